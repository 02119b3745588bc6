import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { formatDuration } from '../kit/time/format';
import { useSigned } from '../session/session';
import { type Accepted, useSentEvent, useSentMessage } from './send-queries';

/** Shows the result of a sent event, next to the form. */
export function Result({ accepted }: { accepted: Accepted | null }): ReactNode {
  return (
    <section className="send-result" aria-labelledby="send-result" aria-live="polite">
      <h2 id="send-result">{t('send.result')}</h2>
      {accepted === null && <p className="quiet">{t('send.none')}</p>}
      {accepted?.kind === 'event' && <SentEvent of={accepted} />}
      {accepted?.kind === 'message' && <SentMessage id={accepted.id} count={accepted.count} />}
    </section>
  );
}

function SentEvent({ of: { id, answer } }: { of: Extract<Accepted, { kind: 'event' }> }): ReactNode {
  const { environment: env } = useSigned();
  const { data, error } = useSentEvent(id);
  return (
    <>
      {answer !== null && (
        <p>
          {t('send.answered', { status: answer.status })}{' '}
          {answer.verified !== null && t(answer.verified ? 'sample.verified' : 'sample.failed')}
        </p>
      )}
      {id === null && <p>{t('send.not-stored')}</p>}
      <FaultLine fault={error} />
      {data && (
        <>
          <p className="actions">
            <Status of={data.status} />
            <Link to="/$env/events/$id" params={{ env, id: data.id }}>
              {t('send.open')}
            </Link>
          </p>
          {data.attempts.map((attempt) => (
            <Attempt key={`${attempt.delivery} ${attempt.number}`} of={attempt} />
          ))}
          {data.status === 'retrying' && data.attempts.length === 0 && <p role="status">{t('send.waiting')}</p>}
          {data.note && <p className="quiet">{data.note}</p>}
        </>
      )}
    </>
  );
}

interface AttemptProps {
  of: {
    number: number;
    status: number | null;
    error: string | null;
    duration_ms: number;
    response_excerpt: string | null;
  };
}

function Attempt({ of }: AttemptProps): ReactNode {
  const { language } = usePreferences();
  const isGood = of.error === null && of.status !== null && of.status >= 200 && of.status < 300;
  return (
    <div className="card">
      <p className="actions">
        <strong>{t('attempt', { number: of.number })}</strong>
        <span className={`status ${isGood ? 'good' : 'bad'}`}>
          <span aria-hidden="true">{isGood ? '✓' : '✕'}</span>{' '}
          {of.status === null ? word('error', of.error ?? 'connection') : `HTTP ${of.status}`}
        </span>
        <span className="quiet">{formatDuration(of.duration_ms, language)}</span>
      </p>
      {of.response_excerpt && (
        <pre tabIndex={0} aria-label={t('attempt.answer')}>
          {of.response_excerpt}
        </pre>
      )}
    </div>
  );
}

function SentMessage({ id, count }: { id: string; count: number }): ReactNode {
  const { environment: env } = useSigned();
  const { data = [], error } = useSentMessage(id, count);
  return (
    <>
      <p>{count === 0 ? t('send.nobody') : t('send.fanout', { count })}</p>
      <FaultLine fault={error} />
      <ul className="cards">
        {data.map((event) => (
          <li key={event.id} className="card actions">
            <Status of={event.status} />
            <Link to="/$env/events/$id" params={{ env, id: event.id }}>
              {t('send.open')}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
