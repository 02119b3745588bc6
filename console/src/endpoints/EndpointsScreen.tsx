import './endpoints.css';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { TextFilter } from '../kit/TextFilter';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { ENDPOINT_STATUSES, type EndpointFilters } from './endpoint-filters';
import { type EndpointItem, useEndpoints, usePresets } from './endpoint-queries';
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
  return (
    <div className="page">
      <title>{`${t('nav.endpoints')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.endpoints')}</h1>
        {count && rows.length > 0 && (
          <span className="quiet">
            {t(count.is_capped ? 'list.count-capped' : 'list.count', { count: count.value })}
          </span>
        )}
        {can('write') ? (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('endpoint.new')}
          </button>
        ) : (
          <span className="quiet">{t('needs-write')}</span>
        )}
      </div>
      {(isFiltered || rows.length > 0) && <Filters filters={filters} />}
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data &&
        rows.length === 0 &&
        (isFiltered ? (
          <p className="empty" role="status">
            {t('endpoints.no-match')}
          </p>
        ) : (
          <Empty />
        ))}
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

function Empty(): ReactNode {
  return (
    <div className="empty" role="status">
      <h2>{t('endpoints.none')}</h2>
      <p>{t('endpoints.none-text')}</p>
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

function EndpointTable({ rows }: { rows: readonly EndpointItem[] }): ReactNode {
  const { environment: env } = useSigned();
  const names = new Map(usePresets().map(({ id, name }) => [id, name]));
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.endpoints')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('endpoint.name')}</th>
            <th scope="col">{t('column.status')}</th>
            <th scope="col">{t('endpoint.preset')}</th>
            <th scope="col">{t('endpoint.verification')}</th>
            <th scope="col">{t('endpoint.url')}</th>
            <th scope="col">{t('endpoint.routes')}</th>
            <th scope="col">{t('created')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <Link to="/$env/endpoints/$id" params={{ env, id: row.id }}>
                  {row.name}
                </Link>
              </td>
              <td>
                <Status of={row.status} />
              </td>
              <td>{row.preset === null ? '–' : (names.get(row.preset) ?? row.preset)}</td>
              <td>
                {row.verification === 'none' ? (
                  <span className="status busy">
                    <span aria-hidden="true">!</span> {t('verification.none')}
                  </span>
                ) : row.has_secret || row.verification === 'jwt' ? (
                  t('endpoint.verified-by', {
                    scheme: row.verification === 'preset' ? t('endpoint.by-provider') : row.verification,
                  })
                ) : (
                  <span className="status busy">
                    <span aria-hidden="true">!</span> {t('endpoint.no-secret')}
                  </span>
                )}
              </td>
              <td className="long">
                <code>{row.url}</code>
              </td>
              <td>{row.destinations.length}</td>
              <td>
                <Time at={row.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
