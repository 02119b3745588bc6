import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { useSigned } from '../session/session';
import { type OwnEndpoint, useOwnEndpoints } from './application-queries';
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
      {isPending && <p role="status">{t('loading')}</p>}
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
  const { environment: env } = useSigned();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('application.endpoints')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('own-endpoint.target')}</th>
            <th scope="col">{t('column.status')}</th>
            <th scope="col">{t('destination.circuit')}</th>
            <th scope="col">{t('own-endpoint.types')}</th>
            <th scope="col">{t('own-endpoint.description')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td className="long">
                <Link to="/$env/applications/$id/endpoints/$endpoint" params={{ env, id, endpoint: row.id }}>
                  {row.url ?? row.destination ?? row.id}
                </Link>
              </td>
              <td>
                <Status of={row.status} />
              </td>
              <td>{row.circuit === null ? '–' : <Status of={row.circuit.state} kind="circuit" />}</td>
              <td className="long">{row.event_types.join(', ') || t('own-endpoint.all-types')}</td>
              <td className="long">{row.description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
