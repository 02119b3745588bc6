import { type ReactNode, useId, useState } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { word } from '../kit/messages/t';
import { preferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { formatTime } from '../kit/time/format';
import { Time } from '../kit/time/Time';
import { usePortal } from './context';
import { nameOf } from './Endpoints';
import { type Shown, useDeliveries, useEndpoints, useListedEndpoint } from './portal-queries';
import { p } from './texts';

const SHOWN: readonly Shown[] = ['', 'delivered', 'retrying', 'failed,dlq'];

/** Deliveries with their states, newest first. */
export function Deliveries({ of }: { of: string }): ReactNode {
  const { go } = usePortal();
  const [status, setStatus] = useState<Shown>('');
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useDeliveries(status, of);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const searched = data?.pages.at(-1)?.searched_to;
  return (
    <section>
      <div className="heading">
        <h2>{p('deliveries.title')}</h2>
      </div>
      <Filters
        status={status}
        onStatus={setStatus}
        endpoint={of}
        onEndpoint={(endpoint) => go(endpoint === '' ? { at: 'deliveries' } : { at: 'deliveries', endpoint })}
      />
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data !== undefined &&
        rows.length === 0 &&
        !hasNextPage &&
        (status === '' && of === '' ? (
          <div className="empty">
            <h3>{p('deliveries.empty')}</h3>
            <p>{p('deliveries.empty-text')}</p>
          </div>
        ) : (
          <p className="empty">{p('deliveries.none-match')}</p>
        ))}
      {rows.length > 0 && (
        <div className="scroll" role="region" aria-label={p('deliveries.title')} tabIndex={0}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{p('column.event')}</th>
                <th scope="col">{p('column.status')}</th>
                <th scope="col" className="wide-only">
                  {p('column.answer')}
                </th>
                <th scope="col" className="wide-only">
                  {p('column.endpoint')}
                </th>
                <th scope="col">{p('column.time')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.id}>
                  <td>
                    <button
                      type="button"
                      className="link"
                      onClick={() => go({ at: 'delivery', id: row.id, ...(of !== '' && { endpoint: of }) })}
                    >
                      {row.event_type}
                    </button>
                  </td>
                  <td>
                    <Status of={row.status} />
                  </td>
                  <td className="wide-only">
                    {row.last_attempt === null
                      ? '–'
                      : (row.last_attempt.status ?? word('error', row.last_attempt.error ?? ''))}
                  </td>
                  <td className="long wide-only">
                    <EndpointName id={row.endpoint} />
                  </td>
                  <td>
                    <Time at={row.received_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {searched !== undefined && (
        <p className="quiet">
          {p('deliveries.searched', { time: formatTime(searched, preferences().language).local })}
        </p>
      )}
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

interface FilterProps {
  status: Shown;
  onStatus: (status: Shown) => void;
  endpoint: string;
  onEndpoint: (endpoint: string) => void;
}

function Filters({ status, onStatus, endpoint, onEndpoint }: FilterProps): ReactNode {
  const listed = useEndpoints().data?.pages.flatMap((page) => page.data) ?? [];
  const chosen = useListedEndpoint(endpoint || null);
  const endpoints = chosen == null || listed.includes(chosen) ? listed : [chosen, ...listed];
  const [first, second] = [useId(), useId()];
  return (
    <p className="actions filters">
      <label htmlFor={first}>{p('deliveries.status')}</label>
      <select id={first} value={status} onChange={(event) => onStatus(event.target.value as Shown)}>
        {SHOWN.map((each) => (
          <option key={each} value={each}>
            {each === '' ? p('deliveries.any') : word('status', each.split(',')[0] ?? '')}
          </option>
        ))}
      </select>
      <label htmlFor={second}>{p('deliveries.endpoint')}</label>
      <select id={second} value={endpoint} onChange={(event) => onEndpoint(event.target.value)}>
        <option value="">{p('deliveries.any')}</option>
        {endpoints.map((each) => (
          <option key={each.id} value={each.id}>
            {nameOf(each)}
          </option>
        ))}
      </select>
    </p>
  );
}

function EndpointName({ id }: { id: string | null }): ReactNode {
  const endpoint = useListedEndpoint(id);
  if (id === null) return '–';
  return endpoint === undefined ? '' : endpoint === null ? p('deliveries.gone-endpoint') : nameOf(endpoint);
}
