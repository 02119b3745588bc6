import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Schemas, serviceNowMs } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
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
      {isPending && <ListSkeleton rows={3} isSection />}
      <FaultLine fault={data === undefined ? error : null} />
      {data?.length === 0 && <p className="quiet">{t('destination.no-deliveries')}</p>}
      {data !== undefined && data.length > 0 && <Deliveries of={data} />}
    </section>
  );
}

function Deliveries({ of }: { of: readonly Schemas['ListedEventItem'][] }): ReactNode {
  const { environment: env } = useSigned();
  const columns: Column<Schemas['ListedEventItem']>[] = [
    {
      id: 'type',
      label: t('column.type'),
      cell: ({ id, event_type: type }) => (
        <Link to="/$env/events/$id" params={{ env, id }}>
          {type}
        </Link>
      ),
      isFlexible: true,
    },
    { id: 'status', label: t('column.status'), cell: ({ status }) => <Status of={status} /> },
    {
      id: 'answer',
      label: t('attempt.answer'),
      cell: ({ last_attempt: last }) => (last === null ? '–' : <Response of={last} />),
    },
    { id: 'attempts', label: t('attempts'), cell: ({ attempt_count: count }) => count, isNumeric: true },
    {
      id: 'received',
      label: t('column.received'),
      cell: ({ received_at: at }) => <Since at={at} nowMs={serviceNowMs()} />,
    },
  ];
  return (
    <Table
      id="last-deliveries"
      label={t('destination.last-deliveries')}
      rows={of}
      columns={columns}
      keyOf={({ id }) => id}
    />
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
