import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Schemas, serviceNowMs } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { Since } from '../kit/time/Since';
import { useSigned } from '../session/session';
import { useLastDeliveries, useLastError } from './destination-queries';
import { isDelivered } from './last-error';

/** The last failed attempt to a destination: response, time, event and the beginning of the response body. */
export function LastError({ id }: { id: string }): ReactNode {
  const { environment: env } = useSigned();
  const { data } = useLastError(id);
  if (!data) return null;
  return (
    <section className="last-error" aria-labelledby="last-error">
      <h2 id="last-error">{t('destination.last-error')}</h2>
      <p>
        <Response of={data} />{' '}
        <span className="quiet">
          <Since at={data.at} nowMs={serviceNowMs()} />
        </span>{' '}
        <Link to="/$env/events/$id" params={{ env, id: data.event }}>
          {t('destination.last-error-event')}
        </Link>
      </p>
      {data.excerpt !== null && data.excerpt !== '' && (
        <pre tabIndex={0} aria-label={t('attempt.answer')}>
          {data.excerpt}
        </pre>
      )}
    </section>
  );
}

/** The newest events sent to a destination, with their status, last response and time. */
export function LastDeliveries({ id }: { id: string }): ReactNode {
  const { environment: env } = useSigned();
  const { data, error, isPending } = useLastDeliveries(id);
  return (
    <section className="last-deliveries">
      <div className="heading">
        <h2>{t('destination.last-deliveries')}</h2>
        <Link to="/$env/events" params={{ env }} search={{ destination: id }}>
          {t('destination.all-events')}
        </Link>
      </div>
      {isPending && <ListSkeleton rows={3} className="deliveries-skeleton" />}
      <FaultLine fault={data === undefined ? error : null} />
      {data?.length === 0 && <p className="quiet">{t('destination.no-deliveries')}</p>}
      {data !== undefined && data.length > 0 && <Deliveries of={data} />}
    </section>
  );
}

function Deliveries({ of }: { of: readonly Schemas['ListedEventItem'][] }): ReactNode {
  const { environment: env } = useSigned();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('destination.last-deliveries')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('column.type')}</th>
            <th scope="col">{t('column.status')}</th>
            <th scope="col">{t('attempt.answer')}</th>
            <th scope="col">{t('attempts')}</th>
            <th scope="col">{t('column.received')}</th>
          </tr>
        </thead>
        <tbody>
          {of.map((event) => (
            <tr key={event.id}>
              <td className="long">
                <Link to="/$env/events/$id" params={{ env, id: event.id }}>
                  {event.event_type}
                </Link>
              </td>
              <td>
                <Status of={event.status} />
              </td>
              <td>{event.last_attempt === null ? '–' : <Response of={event.last_attempt} />}</td>
              <td className="number">{event.attempt_count}</td>
              <td className="number">
                <Since at={event.received_at} nowMs={serviceNowMs()} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Result of an attempt: ✓ or ✕, and the status code or the error in words. */
function Response({ of }: { of: { status: number | null; error: string | null } }): ReactNode {
  const isGood = isDelivered(of);
  return (
    <span className={`status ${isGood ? 'good' : 'bad'}`}>
      <span aria-hidden="true">{isGood ? '✓' : '✕'}</span>{' '}
      {of.error === null ? `HTTP ${of.status ?? ''}` : word('error', of.error)}
    </span>
  );
}
