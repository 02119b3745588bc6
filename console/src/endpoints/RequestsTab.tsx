import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { TextFilter } from '../kit/TextFilter';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { REQUEST_STATUSES, type RequestFilters } from './endpoint-filters';
import { type RequestItem, useRequests } from './endpoint-queries';
import { describeNote } from './request-note';

const RANGES = ['-1h', '-1d', '-7d', '-30d'] as const;

/** Raw requests from the provider, including rejected ones. */
export function RequestsTab(): ReactNode {
  const { id } = useParams({ from: '/$env/endpoints/$id' });
  const filters = useSearch({ from: '/$env/endpoints/$id/requests' });
  const { data, error, isPending, hasNextPage, fetchNextPage } = useRequests(id, filters);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      {(isFiltered || rows.length > 0) && <Filters id={id} filters={filters} />}
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t(isFiltered ? 'requests.no-match' : 'requests.none')}
        </p>
      )}
      {rows.length > 0 && <RequestTable id={id} rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
    </>
  );
}

function Filters({ id, filters }: { id: string; filters: RequestFilters }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const to = '/$env/endpoints/$id/requests';
  const set = (name: keyof RequestFilters, value: string): void => {
    const { [name]: _before, ...rest } = filters;
    void navigate({ to, params: { env, id }, search: { ...rest, ...(value !== '' && { [name]: value }) } });
  };
  const isOtherRange = filters.since !== undefined && !RANGES.some((range) => range === filters.since);
  return (
    <form className="filters" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
      <label>
        {t('request.became')}
        <select value={filters.status ?? ''} onChange={(event) => set('status', event.target.value)}>
          <option value="">{t('filter.any')}</option>
          {REQUEST_STATUSES.map((status) => (
            <option key={status} value={status}>
              {word('status', status)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('filter.range')}
        <select value={filters.since ?? ''} onChange={(event) => set('since', event.target.value)}>
          <option value="">{t('filter.all-time')}</option>
          {RANGES.map((range) => (
            <option key={range} value={range}>
              {t(`range.${range}`)}
            </option>
          ))}
          {isOtherRange && <option value={filters.since}>{filters.since}</option>}
        </select>
      </label>
      <TextFilter
        label={t('request.method')}
        value={filters.method ?? ''}
        onChange={(value) => set('method', value.toUpperCase())}
      />
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={() => void navigate({ to, params: { env, id }, search: {} })}>
          {t('filter.clear')}
        </button>
      )}
    </form>
  );
}

function RequestTable({ id, rows }: { id: string; rows: readonly RequestItem[] }): ReactNode {
  const { environment: env } = useSigned();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('endpoint.requests')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('column.received')}</th>
            <th scope="col">{t('request.became')}</th>
            <th scope="col">{t('request.signature')}</th>
            <th scope="col">{t('request.line')}</th>
            <th scope="col">{t('request.size')}</th>
            <th scope="col">{t('request.note')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <Link to="/$env/endpoints/$id/requests/$request" params={{ env, id, request: row.id }}>
                  <RelativeTime at={row.received_at} />
                </Link>
              </td>
              <td>
                <Status of={row.status} />
                {row.released_at !== null && <span className="tag">{t('request.released')}</span>}
                {row.replay_of !== null && <span className="tag">{t('replayed')}</span>}
              </td>
              <td>
                {row.verified === null ? '–' : <Status of={row.verified ? 'verified' : 'failed'} kind="signature" />}
              </td>
              <td>
                <code>
                  {row.method} {row.path || '/'}
                </code>
              </td>
              <td className="number">{t('payload.size', { bytes: row.size_bytes })}</td>
              <td className="long">{describeNote(row.note) ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
