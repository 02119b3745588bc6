import './applications.css';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Schemas } from '../api/client';
import { sectionReference } from '../api/reference';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { formatCount } from '../kit/format-count';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { type Column, Table } from '../kit/table/Table';
import { TextFilter } from '../kit/TextFilter';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { useApplications, useFailingApplications } from './application-queries';
import { NewApplication } from './NewApplication';

type Application = Schemas['ApplicationPage']['data'][number];

/** List of applications. Each application is a customer of the signed-in organization. */
export function ApplicationsScreen(): ReactNode {
  const filters = useSearch({ from: '/$env/applications' });
  const { environment: env, can } = useSigned();
  const navigate = useNavigate();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useApplications(filters);
  const [isCreating, setCreating] = useState(false);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const count = data?.pages[0]?.count;
  const isFiltered = filters.search !== undefined;
  const isEmpty = data !== undefined && rows.length === 0 && !isFiltered;
  return (
    <div className="page">
      <title>{`${t('nav.applications')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.applications')}</h1>
        {count && rows.length > 0 && (
          <span className="count">{formatCount({ count: count.value, is_capped: count.is_capped })}</span>
        )}
        {can('write') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('application.new')}
          </button>
        )}
        {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      </div>
      {!isFiltered && <Failing />}
      {!isEmpty && (
        <form className="filters" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
          <TextFilter
            label={t('application.search')}
            value={filters.search ?? ''}
            onChange={(search) =>
              void navigate({ to: '/$env/applications', params: { env }, search: search === '' ? {} : { search } })
            }
          />
          {isFiltered && (
            <button
              type="button"
              onClick={() => void navigate({ to: '/$env/applications', params: { env }, search: {} })}
            >
              {t('filter.clear')}
            </button>
          )}
        </form>
      )}
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && isFiltered && (
        <p className="empty" role="status">
          {t('applications.no-match')}
        </p>
      )}
      {isEmpty && (
        <EmptyState
          icon="applications"
          title={t('applications.none')}
          action={can('write') ? { label: t('application.new'), onSelect: () => setCreating(true) } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Applications') }}
        >
          {t('applications.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <ApplicationTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <NewApplication onClose={() => setCreating(false)} />}
    </div>
  );
}

function ApplicationTable({ rows }: { rows: readonly Application[] }): ReactNode {
  const { environment: env } = useSigned();
  const columns: Column<Application>[] = [
    {
      id: 'name',
      label: t('application.name'),
      cell: ({ id, name }) => (
        <Link to="/$env/applications/$id" params={{ env, id }} search={{}}>
          <bdi>{name}</bdi>
        </Link>
      ),
      full: ({ name }) => name,
      isFlexible: true,
    },
    { id: 'uid', label: t('application.uid'), cell: ({ uid }) => uid ?? '–', isFlexible: true },
    { id: 'id', label: t('column.id'), cell: ({ id }) => <code>{id}</code> },
    { id: 'created', label: t('created'), cell: ({ created_at: at }) => <RelativeTime at={at} /> },
  ];
  return <Table id="applications" label={t('nav.applications')} rows={rows} columns={columns} keyOf={({ id }) => id} />;
}

/** Applications with failing endpoints. Renders nothing if no endpoint fails. */
function Failing(): ReactNode {
  const { environment: env } = useSigned();
  const { language } = usePreferences();
  const { data } = useFailingApplications();
  if (data === undefined || data.data.length === 0) return null;
  const share = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
  return (
    <section className="failing" aria-labelledby="failing">
      <h2 id="failing">{t('applications.failing')}</h2>
      <ul>
        {data.data.map((each) => (
          <li key={each.application}>
            <Link to="/$env/applications/$id" params={{ env, id: each.application }} search={{}}>
              {each.name}
            </Link>
            <span className="status bad">
              <span aria-hidden="true">✕</span> {t('applications.rate', { share: share.format(each.failure_rate) })}
            </span>
            <span className="quiet">
              {t('applications.failed-count', {
                failed: each.failed + each.dlq,
                retried: each.retried,
                endpoints: each.failing_endpoints,
              })}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
