import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { t, word } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { formatDuration } from '../kit/time/format';
import { Time } from '../kit/time/Time';
import { Target } from './Deliveries';
import { type EventDetail, useExchanges, useRetry } from './event-queries';
import { type ScheduleStep, stepsOf } from './schedule-steps';

type Attempt = EventDetail['attempts'][number];

/** Timeline of all attempts: time, duration, response, and step of the retry schedule. */
export function Attempts({ event }: { event: EventDetail }): ReactNode {
  const exchanges = useExchanges(event);
  const targets = new Set(event.attempts.map(({ delivery }) => delivery));
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">{t('attempts')}</h2>
      {event.attempts.length === 0 && <p className="quiet">{t('attempts.none')}</p>}
      <ol className="attempts">
        {event.attempts.map((attempt) => (
          <One
            key={`${attempt.delivery} ${attempt.number}`}
            attempt={attempt}
            event={event}
            showsTarget={targets.size > 1}
            exchange={exchanges.get(`${attempt.delivery} ${attempt.number}`)}
          />
        ))}
      </ol>
      {event.attempts.some(isDelivered) && <p className="quiet">{t('attempts.kept')}</p>}
      <Schedule event={event} />
    </section>
  );
}

function isDelivered({ error, status }: Attempt): boolean {
  return error === null && status !== null && status >= 200 && status < 300;
}

function One({
  attempt,
  event,
  showsTarget,
  exchange,
}: {
  attempt: Attempt;
  event: EventDetail;
  showsTarget: boolean;
  exchange: Schemas['ExchangeItem'] | undefined;
}): ReactNode {
  const { language } = usePreferences();
  const retry = useRetry(attempt.destination, event.application);
  const { number, status, error, at, duration_ms, response_excerpt, destination, replayed } = attempt;
  const isGood = isDelivered(attempt);
  return (
    <li className={isGood ? 'good' : 'bad'}>
      <p>
        <strong>
          <span aria-hidden="true">{isGood ? '✓' : '✕'}</span>{' '}
          {retry === null ? t('attempt', { number }) : t('attempt.of', { number, count: retry.max_attempts })}
        </strong>{' '}
        <span>{status === null ? word('error', error ?? 'connection') : `HTTP ${status}`}</span>{' '}
        <span className="quiet">
          <Time at={at} /> · {formatDuration(duration_ms, language)}
        </span>
        {replayed && <span className="tag">{t('replayed')}</span>}
        {showsTarget && (
          <>
            {' '}
            → <Target of={destination} />
          </>
        )}
      </p>
      {response_excerpt !== null && response_excerpt !== '' && (
        <details open={!isGood}>
          <summary>{t('attempt.answer')}</summary>
          <pre tabIndex={0}>{response_excerpt}</pre>
        </details>
      )}
      {exchange !== undefined && (
        <>
          <details>
            <summary>{t('attempt.sent')}</summary>
            <pre tabIndex={0}>
              {[`${exchange.request.method} ${exchange.request.url}`, ...lines(exchange.request.headers)].join('\n')}
            </pre>
          </details>
          {exchange.response !== null && (
            <details>
              <summary>{t('attempt.answered')}</summary>
              <pre tabIndex={0}>{lines(exchange.response.headers).join('\n')}</pre>
            </details>
          )}
        </>
      )}
    </li>
  );
}

const lines = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

/** Retry schedule of a delivery that is waiting for a retry or has become a dead letter. */
function Schedule({ event }: { event: EventDetail }): ReactNode {
  const delivery = event.deliveries.findLast(({ status }) => status === 'retrying' || status === 'dlq');
  const retry = useRetry(delivery?.destination, event.application);
  if (delivery === undefined || retry === null) return null;
  const made = event.attempts.filter((attempt) => attempt.delivery === delivery.id).length;
  return (
    <>
      <h3 id="schedule">{t('schedule')}</h3>
      <ol className="steps" aria-labelledby="schedule">
        {stepsOf(retry, made, delivery.status === 'retrying').map(({ number, state, seconds }) => (
          <Step key={number} number={number} state={state} seconds={seconds} />
        ))}
      </ol>
    </>
  );
}

const SIGNS = { made: '✓', next: '↻', ahead: '○' } as const;

function Step({ number, state, seconds }: ScheduleStep): ReactNode {
  const { language } = usePreferences();
  return (
    <li className={state} aria-current={state === 'next' ? 'step' : undefined}>
      <span aria-hidden="true">{SIGNS[state]}</span> <span>{t('schedule.step', { number })}</span>{' '}
      <span className="quiet">
        {seconds === 0
          ? t('schedule.at-once')
          : t('schedule.within', { time: formatDuration(seconds * 1000, language) })}
      </span>
      <span className="offscreen"> {t(`schedule.${state}`)}</span>
    </li>
  );
}
