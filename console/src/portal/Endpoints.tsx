import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { preferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { useSeen } from '../kit/use-seen';
import { usePortal } from './context';
import { type Endpoint, useEndpoints, useStats } from './portal-queries';
import { p } from './texts';

/** The customer's endpoints, with the health of each. */
export function Endpoints(): ReactNode {
  const { can, go } = usePortal();
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useEndpoints();
  const endpoints = data?.pages.flatMap((page) => page.data);
  return (
    <section>
      <div className="heading">
        <h2>{p('endpoints.title')}</h2>
        {can('manage') && (
          <button type="button" className="primary" onClick={() => go({ at: 'new' })}>
            {p('endpoints.add')}
          </button>
        )}
      </div>
      {isPending && <ListSkeleton rows={3} />}
      <FaultLine fault={error} />
      {endpoints?.length === 0 && (
        <div className="empty">
          <h3>{p('endpoints.empty')}</h3>
          <p>{p('endpoints.empty-text')}</p>
          {!can('manage') && <p>{p('endpoints.none-may')}</p>}
        </div>
      )}
      <ul className="cards">
        {endpoints?.map((endpoint) => (
          <Card key={endpoint.id} endpoint={endpoint} />
        ))}
      </ul>
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()} disabled={isFetchingNextPage}>
            {p('more')}
          </button>
        </p>
      )}
    </section>
  );
}

function Card({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const { go } = usePortal();
  return (
    <li className="card">
      <button type="button" className="card-link" onClick={() => go({ at: 'endpoint', id: endpoint.id })}>
        {nameOf(endpoint)}
      </button>
      <Status
        of={endpoint.circuit?.state === 'open' && endpoint.status === 'active' ? 'open' : endpoint.status}
        kind={endpoint.circuit?.state === 'open' && endpoint.status === 'active' ? 'circuit' : 'status'}
      />
      {endpoint.description !== '' && <code className="card-url">{endpoint.url ?? ''}</code>}
      <p className="quiet">
        {typesOf(endpoint)} · <Health id={endpoint.id} />
      </p>
    </li>
  );
}

/** Summary of an endpoint's deliveries in the last 24 hours, in words. Loads it once it becomes visible. */
export function Health({ id }: { id: string }): ReactNode {
  const [ref, isSeen] = useSeen<HTMLSpanElement>();
  const { data } = useStats(id, isSeen);
  return <span ref={ref}>{data === undefined ? '\u00a0' : <Summary of={data} />}</span>;
}

function Summary({ of: data }: { of: Schemas['EndpointStatsItem'] }): ReactNode {
  const count = data.delivered + data.failed + data.dlq;
  const rate =
    data.success_rate === null
      ? null
      : new Intl.NumberFormat(preferences().language, { style: 'percent', maximumFractionDigits: 1 }).format(
          data.success_rate,
        );
  const said =
    rate !== null
      ? p('health.rate', { rate, count })
      : data.received > 0
        ? p('health.all-wait', { count: data.received })
        : p('health.none');
  return (
    <>
      {said}
      {data.waiting.count > 0 && ` · ${p('health.waiting', { count: data.waiting.count })}`}
    </>
  );
}

/** Returns the display name of an endpoint. */
export function nameOf({ description, url, id }: Pick<Endpoint, 'description' | 'url' | 'id'>): string {
  return description !== '' ? description : (url ?? id);
}

function typesOf({ event_types: types }: Endpoint): string {
  if (types.length === 0) return p('all-types');
  return types.length <= 3 ? types.join(', ') : p('types.count', { count: types.length });
}
