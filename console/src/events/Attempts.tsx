import type { ReactNode } from 'react';
import { t, word } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { Time } from '../kit/time/Time';
import { tellDuration } from '../kit/time/format';
import { Target } from './Deliveries';
import type { EventDetail } from './event-queries';

type Attempt = EventDetail['attempts'][number];

/** Every try as a line of time: when, how long, what was answered. */
export function Attempts({ event }: { event: EventDetail }): ReactNode {
  const several = new Set(event.attempts.map(({ delivery }) => delivery)).size > 1;
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">{t('attempts')}</h2>
      {event.attempts.length === 0 && <p className="quiet">{t('attempts.none')}</p>}
      <ol className="attempts">
        {event.attempts.map((attempt) => <One key={`${attempt.delivery} ${attempt.number}`} attempt={attempt} showsTarget={several} />)}
      </ol>
    </section>
  );
}

function One({ attempt, showsTarget }: { attempt: Attempt; showsTarget: boolean }): ReactNode {
  const { language } = usePreferences();
  const { number, status, error, at, duration_ms, response_excerpt, destination, replayed } = attempt;
  const isGood = status !== null && status >= 200 && status < 300;
  return (
    <li className={isGood ? 'good' : 'bad'}>
      <p>
        <strong><span aria-hidden="true">{isGood ? '✓' : '✕'}</span> {t('attempt', { number })}</strong>{' '}
        <span>{status === null ? word('error', error ?? 'connection') : `HTTP ${status}`}</span>{' '}
        <span className="quiet"><Time at={at} /> · {tellDuration(duration_ms, language)}</span>
        {replayed && <span className="tag">{t('replayed')}</span>}
        {showsTarget && <> → <Target of={destination} /></>}
      </p>
      {response_excerpt !== null && response_excerpt !== '' && (
        <details open={!isGood}><summary>{t('attempt.answer')}</summary><pre tabIndex={0}>{response_excerpt}</pre></details>
      )}
    </li>
  );
}
