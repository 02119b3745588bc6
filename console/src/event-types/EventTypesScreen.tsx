import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { TextFilter } from '../kit/TextFilter';
import { Time } from '../kit/time/Time';
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
  const show = (search: EventTypeFilters): void => void navigate({ to: '/$env/event-types', params: { env }, search });
  return (
    <div className="page">
      <title>{`${t('nav.event-types')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.event-types')}</h1>
        {can('write') ? (
          <>
            <button type="button" onClick={() => setAsked('import')}>
              {t('event-type.import')}
            </button>
            <button type="button" className="primary" onClick={() => setAsked('new')}>
              {t('event-type.new')}
            </button>
          </>
        ) : (
          <span className="quiet">{t('needs-write')}</span>
        )}
      </div>
      {(isFiltered || rows.length > 0) && (
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
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data &&
        rows.length === 0 &&
        (isFiltered ? (
          <p className="empty" role="status">
            {t('event-types.no-match')}
          </p>
        ) : (
          <div className="empty" role="status">
            <h2>{t('event-types.none')}</h2>
            <p>{t('event-types.none-text')}</p>
          </div>
        ))}
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
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.event-types')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('event-type.name')}</th>
            <th scope="col">{t('event-type.group')}</th>
            <th scope="col">{t('event-type.schema')}</th>
            <th scope="col">{t('event-type.description')}</th>
            <th scope="col">{t('event-type.changed')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <td>
                <Link to="/$env/event-types/$name" params={{ env, name: row.name }}>
                  {row.name}
                </Link>
                {row.archived && <span className="tag">{t('event-type.archived')}</span>}
              </td>
              <td>{row.group ?? '–'}</td>
              <td>
                {row.has_schema ? t('event-type.version', { number: row.version }) : '–'}
                {row.enforce && <span className="tag">{t('event-type.enforced')}</span>}
              </td>
              <td className="long">{row.description ?? ''}</td>
              <td>
                <Time at={row.updated_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
