import './destinations.css';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { sectionReference } from '../api/reference';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { useDestinations } from './destination-queries';
import { DestinationTable } from './DestinationTable';
import { Filters } from './Filters';
import { NewDestination } from './NewDestination';

/** List of destinations. */
export function DestinationsScreen(): ReactNode {
  const { can } = useSigned();
  const filters = useSearch({ from: '/$env/destinations' });
  const { data, error, isPending, hasNextPage, fetchNextPage } = useDestinations(filters);
  const isFiltered = Object.keys(filters).length > 0;
  const [isCreating, setCreating] = useState(false);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const isEmpty = data !== undefined && rows.length === 0 && !isFiltered;
  return (
    <div className="page">
      <title>{`${t('nav.destinations')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.destinations')}</h1>
        {can('write') && !isEmpty && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('destination.new')}
          </button>
        )}
        {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      </div>
      {!isEmpty && <Filters of={filters} />}
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && isFiltered && (
        <p className="empty" role="status">
          {t('destinations.none-match')}
        </p>
      )}
      {isEmpty && (
        <EmptyState
          icon="destinations"
          title={t('destinations.none')}
          action={can('write') ? { label: t('destination.new'), onSelect: () => setCreating(true) } : undefined}
          docs={{ label: t('docs.api'), href: sectionReference('Destinations') }}
        >
          {t('destinations.none-text')}
        </EmptyState>
      )}
      {rows.length > 0 && <DestinationTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <NewDestination onClose={() => setCreating(false)} />}
    </div>
  );
}
