import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { sectionReference } from '../api/reference';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { type Column, Table } from '../kit/table/Table';
import { TextFilter } from '../kit/TextFilter';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import type { EventTypeFilters } from './event-type-filters';
import { type EventTypeItem, useEventTypes } from './event-type-queries';
import { ImportTypes } from './ImportTypes';
import { NewEventType } from './NewEventType';

/** Catalog of the event types. */
export function EventTypesScreen(): ReactNode {
  const filters = useSearch({ from: '/$env/event-types' });
  const { environment: env, can } = useSigned();
  const navigate = useNavigate();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useEventTypes(filters);
  const [asked, setAsked] = useState<'new' | 'import' | null>(null);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = data !== undefined && rows.length === 0 && !isFiltered;
  const show = (search: EventTypeFilters): void => void navigate({ to: '/$env/event-types', params: { env }, search });
  return (
    <div className="page">
      <title>{`${t('nav.event-types')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.event-types')}</h1>
        {can('write') && (
          <button type="button" onClick={() => setAsked('import')}>
            {t('event-type.import')}
          </button>
        )}
        {can('write') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setAsked('new')}>
            {t('event-type.new')}
          </button>
        )}
        {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      </div>
      {!isEmpty && (
        <form className="filters" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
          <TextFilter
            label={t('event-type.group')}
            value={filters.group ?? ''}
            onChange={(group) => show({ ...(filters.archived && { archived: true }), ...(group !== '' && { group }) })}
          />
          <label>
            {t('event-type.show')}
            <select
              value={filters.archived === true ? 'archived' : ''}
              onChange={(event) =>
                show({
                  ...(filters.group !== undefined && { group: filters.group }),
                  ...(event.target.value !== '' && { archived: true }),
                })
              }
            >
              <option value="">{t('event-type.current')}</option>
              <option value="archived">{t('event-type.archived')}</option>
            </select>
          </label>
          {isFiltered && (
            <button type="button" onClick={() => show({})}>
              {t('filter.clear')}
            </button>
          )}
        </form>
      )}
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && isFiltered && (
        <p className="empty" role="status">
          {t('event-types.no-match')}
        </p>
      )}
      {isEmpty && (
        <EmptyState
          icon="event-types"
          title={t('event-types.none')}
          action={can('write') ? { label: t('event-type.new'), onSelect: () => setAsked('new') } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Event types') }}
        >
          {t('event-types.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <TypeTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {asked === 'new' && <NewEventType onClose={() => setAsked(null)} />}
      {asked === 'import' && <ImportTypes onClose={() => setAsked(null)} />}
    </div>
  );
}

function TypeTable({ rows }: { rows: readonly EventTypeItem[] }): ReactNode {
  const { environment: env } = useSigned();
  const columns: Column<EventTypeItem>[] = [
    {
      id: 'name',
      label: t('event-type.name'),
      cell: ({ name, archived }) => (
        <>
          <Link to="/$env/event-types/$name" params={{ env, name }}>
            {name}
          </Link>
          {archived && <span className="tag">{t('event-type.archived')}</span>}
        </>
      ),
      full: ({ name }) => name,
      isFlexible: true,
    },
    { id: 'group', label: t('event-type.group'), cell: ({ group }) => group ?? '–', isFlexible: true },
    {
      id: 'schema',
      label: t('event-type.schema'),
      cell: ({ has_schema: hasSchema, version, enforce }) => (
        <>
          {hasSchema ? t('event-type.version', { number: version }) : '–'}
          {enforce && <span className="tag">{t('event-type.enforced')}</span>}
        </>
      ),
    },
    {
      id: 'description',
      label: t('event-type.description'),
      cell: ({ description }) => description ?? '',
      isFlexible: true,
    },
    { id: 'changed', label: t('event-type.changed'), cell: ({ updated_at: at }) => <RelativeTime at={at} /> },
  ];
  return (
    <Table id="event-types" label={t('nav.event-types')} rows={rows} columns={columns} keyOf={({ name }) => name} />
  );
}
