import './endpoints.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { sectionReference } from '../api/reference';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { formatCount } from '../kit/format-count';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { TextFilter } from '../kit/TextFilter';
import { useSigned } from '../session/session';
import { ENDPOINT_STATUSES, type EndpointFilters } from './endpoint-filters';
import { useEndpoints, usePresets } from './endpoint-queries';
import { EndpointTable } from './EndpointTable';
import { NewEndpoint } from './NewEndpoint';

/** List of inbound endpoints, to which providers send webhooks. */
export function EndpointsScreen(): ReactNode {
  const filters = useSearch({ from: '/$env/endpoints' });
  const { can } = useSigned();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useEndpoints(filters);
  const [isCreating, setCreating] = useState(false);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const count = data?.pages[0]?.count;
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = data !== undefined && rows.length === 0 && !isFiltered;
  return (
    <div className="page">
      <title>{`${t('nav.endpoints')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.endpoints')}</h1>
        {count && rows.length > 0 && (
          <span className="count">{formatCount({ count: count.value, is_capped: count.is_capped })}</span>
        )}
        {can('write') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('endpoint.new')}
          </button>
        )}
        {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      </div>
      {!isEmpty && <Filters filters={filters} />}
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && isFiltered && (
        <p className="empty" role="status">
          {t('endpoints.no-match')}
        </p>
      )}
      {isEmpty && (
        <EmptyState
          icon="endpoints"
          title={t('endpoints.none')}
          action={can('write') ? { label: t('endpoint.new'), onSelect: () => setCreating(true) } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Endpoints') }}
        >
          {t('endpoints.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <EndpointTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <NewEndpoint onClose={() => setCreating(false)} />}
    </div>
  );
}

function Filters({ filters }: { filters: EndpointFilters }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const presets = usePresets();
  const set = (name: keyof EndpointFilters, value: string): void => {
    const { [name]: _before, ...rest } = filters;
    void navigate({
      to: '/$env/endpoints',
      params: { env },
      search: { ...rest, ...(value !== '' && { [name]: value }) },
    });
  };
  return (
    <form className="filters" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
      <TextFilter
        label={t('endpoint.search')}
        value={filters.search ?? ''}
        onChange={(value) => set('search', value)}
      />
      <label>
        {t('filter.status')}
        <select value={filters.status ?? ''} onChange={(event) => set('status', event.target.value)}>
          <option value="">{t('filter.any')}</option>
          {ENDPOINT_STATUSES.map((status) => (
            <option key={status} value={status}>
              {word('status', status)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('endpoint.preset')}
        <select value={filters.preset ?? ''} onChange={(event) => set('preset', event.target.value)}>
          <option value="">{t('filter.any')}</option>
          {presets.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={() => void navigate({ to: '/$env/endpoints', params: { env }, search: {} })}>
          {t('filter.clear')}
        </button>
      )}
    </form>
  );
}
