import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { serviceNowMs } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { TargetHealth } from '../kit/status/TargetHealth';
import { useSeen } from '../kit/use-seen';
import { useSigned } from '../session/session';
import { type OwnEndpoint, useOwnEndpoints } from './application-queries';
import { useEndpointHealth } from './endpoint-health';
import { NewOwnEndpoint } from './NewOwnEndpoint';

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
      {rows.length > 0 && <EndpointTable id={id} rows={rows} />}
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

function EndpointTable({ id, rows }: { id: string; rows: readonly OwnEndpoint[] }): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('application.endpoints')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('own-endpoint.target')}</th>
            <th scope="col">{t('health')}</th>
            <th scope="col">{t('own-endpoint.types')}</th>
            <th scope="col">{t('own-endpoint.description')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <EndpointRow key={row.id} app={id} of={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** An endpoint in the list. Loads its health when it becomes visible. */
function EndpointRow({ app, of }: { app: string; of: OwnEndpoint }): ReactNode {
  const { environment: env } = useSigned();
  const [row, isSeen] = useSeen<HTMLTableRowElement>();
  const { health, pending } = useEndpointHealth(app, of, isSeen);
  return (
    <tr ref={row}>
      <td className="long">
        <Link to="/$env/applications/$id/endpoints/$endpoint" params={{ env, id: app, endpoint: of.id }}>
          {of.url ?? of.destination ?? of.id}
        </Link>
      </td>
      <td>
        <TargetHealth of={health} pending={pending} clock={serviceNowMs} />
      </td>
      <td className="long">{of.event_types.join(', ') || t('own-endpoint.all-types')}</td>
      <td className="long">{of.description}</td>
    </tr>
  );
}
