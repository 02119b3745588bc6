import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { portalApi } from '../api/portal';
import { FaultLine } from '../kit/form/FaultLine';
import { Skeleton } from '../kit/load/Skeleton';
import { Status } from '../kit/status/Status';
import { postToHost } from '../session/host';
import { usePortal } from './context';
import { EndpointForm } from './EndpointForm';
import { Health, nameOf } from './Endpoints';
import { type Endpoint, useEndpoint, type useEndpoints } from './portal-queries';
import { Recover } from './Recover';
import { SecretPanel } from './SecretPanel';
import { TestPanel } from './TestPanel';
import { p } from './texts';

/** One endpoint: its state, event types and secret, with forms to test it and to resend failed events. */
export function EndpointView({ id, isNew }: { id: string; isNew: boolean }): ReactNode {
  const { can, go } = usePortal();
  const { data, error, isPending } = useEndpoint(id);
  const [isEditing, setEditing] = useState(false);
  if (data !== undefined && isEditing) return <EndpointForm endpoint={data} onDone={() => setEditing(false)} />;
  return (
    <section>
      <p>
        <button type="button" className="link" onClick={() => go({ at: 'endpoints' })}>
          ← {p('nav.endpoints')}
        </button>
      </p>
      {isPending && <Skeleton parts={['title', 'text', 'text', 'text']} />}
      <FaultLine fault={error} />
      {data && (
        <>
          {isNew && (
            <p className="why" role="status">
              {p('endpoint.created')}
            </p>
          )}
          <div className="heading">
            <h2>{nameOf(data)}</h2>
            <Status of={data.status} />
          </div>
          {data.status === 'disabled' && (
            <p className="why">
              {p('endpoint.disabled')} {data.disabled_reason}
            </p>
          )}
          {data.status === 'active' && data.circuit !== null && data.circuit.state !== 'closed' && (
            <p className="why">{p('endpoint.circuit')}</p>
          )}
          <Facts of={data} />
          <Actions of={data} onEdit={() => setEditing(true)} />
          {can('manage') && data.status === 'active' && <TestPanel endpoint={data} />}
          {can('secrets') && data.url !== null && <SecretPanel endpoint={id} />}
          {can('resend') && data.status === 'active' && <Recover endpoint={id} />}
        </>
      )}
    </section>
  );
}

function Facts({ of }: { of: Endpoint }): ReactNode {
  return (
    <div className="panel">
      {of.url === null ? (
        <p>{p('endpoint.destination')}</p>
      ) : (
        <p>
          <code>{of.url}</code>
        </p>
      )}
      <p className="quiet">
        <Health id={of.id} />
      </p>
      <p>
        {of.event_types.length === 0 ? (
          p('all-types')
        ) : (
          <span className="chips-inline">
            {of.event_types.map((type) => (
              <code key={type} className="chip">
                {type}
              </code>
            ))}
          </span>
        )}
      </p>
      {of.filter !== null && (
        <>
          <p className="quiet">{p('endpoint.filtered')}</p>
          <pre>{JSON.stringify(of.filter, null, 2)}</pre>
        </>
      )}
      {Object.keys(of.headers ?? {}).length > 0 && (
        <pre aria-label={p('headers')}>
          {Object.entries(of.headers ?? {})
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </pre>
      )}
    </div>
  );
}

function Actions({ of, onEdit }: { of: Endpoint; onEdit: () => void }): ReactNode {
  const { app, can, go } = usePortal();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<'disable' | 'delete' | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const params = { path: { app, endpoint: of.id } };
  const done = async (): Promise<void> => {
    setAsked(null);
    postToHost({ type: 'changed', endpoint: of.id });
    await queries.invalidateQueries();
  };
  const setStatus = (status: 'active' | 'disabled'): void => {
    setFault(null);
    answered(portalApi.PATCH('/v1/app/{app}/endpoints/{endpoint}', { params, body: { status } as never }))
      .then(done)
      .catch(setFault);
  };
  const remove = (): void => {
    setFault(null);
    answered(portalApi.DELETE('/v1/app/{app}/endpoints/{endpoint}', { params }))
      .then(async () => {
        postToHost({ type: 'changed', endpoint: of.id });
        // Removes the deleted endpoint from the cached list, so that the list does not request its data again.
        queries.setQueryData<ReturnType<typeof useEndpoints>['data']>(
          ['endpoints'],
          (known) =>
            known && {
              ...known,
              pages: known.pages.map((page) => ({ ...page, data: page.data.filter(({ id }) => id !== of.id) })),
            },
        );
        go({ at: 'endpoints' });
        await queries.invalidateQueries({ queryKey: ['endpoints'] });
        queries.removeQueries({ predicate: ({ queryKey }) => queryKey[1] === of.id, type: 'inactive' });
      })
      .catch(setFault);
  };
  return (
    <>
      <p className="actions">
        {can('manage') && (
          <button type="button" onClick={onEdit}>
            {p('endpoint.edit')}
          </button>
        )}
        {can('manage') && (
          <button type="button" onClick={() => (of.status === 'active' ? setAsked('disable') : setStatus('active'))}>
            {p(of.status === 'active' ? 'endpoint.disable' : 'endpoint.enable')}
          </button>
        )}
        {can('manage') && (
          <button type="button" onClick={() => setAsked('delete')}>
            {p('endpoint.delete')}
          </button>
        )}
        <button type="button" onClick={() => go({ at: 'deliveries', endpoint: of.id })}>
          {p('nav.deliveries')}
        </button>
      </p>
      {asked !== null && (
        <div className="why" role="group" aria-label={p(asked === 'delete' ? 'endpoint.delete' : 'endpoint.disable')}>
          <p>{p(asked === 'delete' ? 'endpoint.sure-delete' : 'endpoint.sure-disable')}</p>
          <p className="actions">
            <button
              type="button"
              className="danger"
              autoFocus
              onClick={() => (asked === 'delete' ? remove() : setStatus('disabled'))}
            >
              {p(asked === 'delete' ? 'endpoint.delete' : 'endpoint.disable')}
            </button>
            <button type="button" onClick={() => setAsked(null)}>
              {p('cancel')}
            </button>
          </p>
        </div>
      )}
      <FaultLine fault={fault} />
    </>
  );
}
