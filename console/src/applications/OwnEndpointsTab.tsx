import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { useOwnEndpoints } from './application-queries';
import { NewOwnEndpoint } from './NewOwnEndpoint';
import { OwnEndpointTable } from './OwnEndpointTable';

/** Endpoints of a customer. */
export function OwnEndpointsTab(): ReactNode {
  const { id } = useParams({ from: '/$env/applications/$id' });
  const { can } = useSigned();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useOwnEndpoints(id);
  const [isCreating, setCreating] = useState(false);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      <div className="heading">
        <h2>{t('application.endpoints')}</h2>
        {can('write') && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            {t('own-endpoint.new')}
          </button>
        )}
      </div>
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t('own-endpoints.none')}
        </p>
      )}
      {rows.length > 0 && <OwnEndpointTable app={id} rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
      {isCreating && <NewOwnEndpoint id={id} onClose={() => setCreating(false)} />}
    </>
  );
}
