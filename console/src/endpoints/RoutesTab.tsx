import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { writeJson } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { useResource } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { type Route, useEndpoint, useTrial } from './endpoint-queries';
import { RouteEditor } from './RouteEditor';
import { TriedRequest, useTriedRequest } from './TriedRequest';

/** Routes of an endpoint. The filter of each route can be tested on a received request. */
export function RoutesTab(): ReactNode {
  const { id } = useParams({ from: '/$env/endpoints/$id' });
  const { can } = useSigned();
  const { data: endpoint } = useEndpoint(id);
  const tried = useTriedRequest(id);
  const [edited, setEdited] = useState<string | null>(null);
  const { data: trial, error } = useTrial(
    id,
    tried,
    can('write') && edited === null && (endpoint?.routes.length ?? 0) > 0 ? {} : null,
  );
  if (endpoint === undefined) return null;
  const { routes } = endpoint;
  const done = (): void => setEdited(null);
  return (
    <>
      <div className="heading">
        <h2>{t('endpoint.routes')}</h2>
        {can('write') && edited === null && (
          <button type="button" className="primary" onClick={() => setEdited('')}>
            {t('route.new')}
          </button>
        )}
      </div>
      {edited === '' && <RouteEditor id={id} route={null} taken={routes} onDone={done} />}
      {routes.length === 0 && edited === null && (
        <p className="empty" role="status">
          {t('routes.none')}
        </p>
      )}
      <ul className="cards">
        {routes.map((route, index) => (
          <li key={route.id} className="card">
            {edited === route.id ? (
              <RouteEditor id={id} route={route} taken={routes} onDone={done} />
            ) : (
              <RouteCard
                id={id}
                route={route}
                matches={trial?.routes[index]?.matches}
                onEdit={edited === null ? () => setEdited(route.id) : null}
              />
            )}
          </li>
        ))}
      </ul>
      {can('write') && edited === null && routes.length > 0 && (
        <section aria-labelledby="try">
          <h3 id="try">{t('try')}</h3>
          <p className="quiet">{t('try.routes')}</p>
          <TriedRequest id={id} chosen={tried} />
          <FaultLine fault={error} />
          {trial && <p role="status">{t(`outcome.${trial.outcome}`)}</p>}
        </section>
      )}
    </>
  );
}

function RouteCard({
  id,
  route,
  matches,
  onEdit,
}: {
  id: string;
  route: Route;
  matches: boolean | null | undefined;
  onEdit: (() => void) | null;
}): ReactNode {
  const { api, environment: env, can } = useSigned();
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const name = useResource(route.destination)?.name ?? route.destination;
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/endpoints/{id}/routes/{routeId}', { params: { path: { id, routeId: route.id } } }));
    await queries.invalidateQueries({ queryKey: ['endpoint', env, id] });
  };
  return (
    <>
      <div className="heading">
        <h3>
          → <PathLink to={`/${env}/destinations/${route.destination}`}>{name}</PathLink>
        </h3>
        {matches === true && (
          <span className="status good">
            <span aria-hidden="true">✓</span> {t('route.matches')}
          </span>
        )}
        {matches === false && (
          <span className="status dull">
            <span aria-hidden="true">–</span> {t('route.matches-not')}
          </span>
        )}
        {can('write') && onEdit !== null && (
          <span className="actions">
            <button type="button" className="small" aria-label={`${t('edit')}: ${name}`} onClick={onEdit}>
              {t('edit')}
            </button>
            <button
              type="button"
              className="small destructive"
              aria-label={`${t('delete')}: ${name}`}
              onClick={() => setAsked(true)}
            >
              {t('delete')}
            </button>
          </span>
        )}
      </div>
      {route.filter === null ? (
        <p className="quiet">{t('route.all')}</p>
      ) : (
        <pre tabIndex={0}>{writeJson(route.filter)}</pre>
      )}
      {isAsked && (
        <Confirm
          title={`${t('delete')}: ${name}`}
          action={t('delete')}
          isDangerous
          onConfirm={remove}
          onClose={() => setAsked(false)}
        >
          <p>
            {t('route.delete-text')} <strong>{name}</strong>
          </p>
        </Confirm>
      )}
    </>
  );
}
