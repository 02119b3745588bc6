import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
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
  const isEmpty = data !== undefined && rows.length === 0 && !isFiltered;
  return (
    <>
      {!isEmpty && <Filters id={id} filters={filters} />}
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
  const columns: Column<RequestItem>[] = [
    {
      id: 'received',
      label: t('column.received'),
      cell: ({ id: request, received_at: at }) => (
        <Link to="/$env/endpoints/$id/requests/$request" params={{ env, id, request }}>
          <RelativeTime at={at} />
        </Link>
      ),
    },
    {
      id: 'status',
      label: t('request.became'),
      cell: (row) => (
        <>
          <Status of={row.status} />
          {row.released_at !== null && <span className="tag">{t('request.released')}</span>}
          {row.replay_of !== null && <span className="tag">{t('replayed')}</span>}
        </>
      ),
    },
    {
      id: 'signature',
      label: t('request.signature'),
      cell: ({ verified }) =>
        verified === null ? t('verification.none') : <Status of={verified ? 'verified' : 'failed'} kind="signature" />,
    },
    {
      id: 'line',
      label: t('request.line'),
      cell: (row) => <code>{lineOf(row)}</code>,
      full: lineOf,
      isFlexible: true,
    },
    {
      id: 'size',
      label: t('request.size'),
      cell: ({ size_bytes: bytes }) => t('payload.size', { bytes }),
      isNumeric: true,
    },
    { id: 'note', label: t('request.note'), cell: ({ note }) => describeNote(note) ?? '–', isFlexible: true },
  ];
  return (
    <Table id="requests" label={t('endpoint.requests')} rows={rows} columns={columns} keyOf={({ id: key }) => key} />
  );
}

function lineOf({ method, path }: RequestItem): string {
  return `${method} ${path || '/'}`;
}
