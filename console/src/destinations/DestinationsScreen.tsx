import './destinations.css';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { useDestinations } from './destination-queries';
import { DestinationRow } from './DestinationRow';
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
  return (
    <div className="page">
      <title>{`${t('nav.destinations')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.destinations')}</h1>
        {can('write') ? (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('destination.new')}
          </button>
        ) : (
          <span className="quiet">{t('needs-write')}</span>
        )}
      </div>
      {(isFiltered || rows.length > 0) && <Filters of={filters} />}
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t(isFiltered ? 'destinations.none-match' : 'destinations.none')}
        </p>
      )}
      {rows.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.destinations')}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{t('destination.name')}</th>
                <th scope="col">{t('health')}</th>
                <th scope="col">{t('destinations.day')}</th>
                <th scope="col">{t('destination.type')}</th>
                <th scope="col">URL</th>
                <th scope="col">{t('created')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <DestinationRow key={row.id} of={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
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
