import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { deliveryFaultOf } from '../kit/delivery/delivery-draft';
import { DeliveryFields } from '../kit/delivery/DeliveryFields';
import { FaultLine } from '../kit/form/FaultLine';
import { Skeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { type OwnEndpoint, useOwnEndpoint } from './application-queries';
import { endpointChangesOf, type EndpointDraft, endpointDraftOf } from './endpoint-draft';
import { EndpointFields } from './EndpointFields';

/** Page that edits all settings of an application's endpoint. */
export function EditOwnEndpoint(): ReactNode {
  const { id, endpoint } = useParams({ from: '/$env/applications/$id/endpoints/$endpoint/edit' });
  const { environment: env, can } = useSigned();
  const { data, error, isPending } = useOwnEndpoint(id, endpoint);
  return (
    <>
      <p>
        <Link to="/$env/applications/$id/endpoints/$endpoint" params={{ env, id, endpoint }} className="clamped">
          ← {data?.url ?? data?.destination ?? endpoint}
        </Link>
      </p>
      {isPending && <Skeleton parts={['heading', ['fields', 6]]} />}
      <FaultLine fault={error} />
      {data && (can('write') ? <Form app={id} of={data} /> : <p>{t('needs-write')}</p>)}
    </>
  );
}

function Form({ app, of }: { app: string; of: OwnEndpoint }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  // The query refetches regularly. The form keeps the state from when it was opened, and sends only what was edited.
  const [before] = useState(() => endpointDraftOf(of));
  const [draft, setDraft] = useState(before);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const set = (changes: Partial<EndpointDraft>): void => setDraft((now) => ({ ...now, ...changes }));
  const { changes, filterFault, isWrong } = endpointChangesOf(draft, before, t('filter-editor.object'));
  const isUnchanged = !isWrong && Object.keys(changes).length === 0;
  const params = { env, id: app, endpoint: of.id };
  const { delivery } = draft;
  const save = async (): Promise<void> => {
    await answered(
      api.PATCH('/v1/app/{app}/endpoints/{endpoint}', {
        params: { path: { app, endpoint: of.id } },
        body: changes as never,
      }),
    );
    await queries.invalidateQueries({ queryKey: ['own-endpoint', env, app, of.id] });
    await queries.invalidateQueries({ queryKey: ['own-endpoints', env, app] });
    await navigate({ to: '/$env/applications/$id/endpoints/$endpoint', params });
  };
  return (
    <form
      className="stacked narrow"
      onChange={() => setFault(null)}
      onSubmit={(event) => {
        event.preventDefault();
        setBusy(true);
        setFault(null);
        save().catch((error: unknown) => {
          setFault(error);
          setBusy(false);
        });
      }}
    >
      <h2>{t('own-endpoint.edit')}</h2>
      <EndpointFields draft={draft} hasUrl={of.url !== null} filterFault={filterFault} onChange={set} />
      {delivery !== null && (
        <>
          <h2>{t('destination.delivery')}</h2>
          <DeliveryFields
            draft={delivery}
            fault={deliveryFaultOf(delivery)}
            onChange={(edited) => set({ delivery: { ...delivery, ...edited } })}
          />
        </>
      )}
      <FaultLine fault={fault} />
      <p className="actions">
        <button type="submit" className="primary" disabled={isBusy || isWrong || isUnchanged}>
          {t('save')}
        </button>
        <Link to="/$env/applications/$id/endpoints/$endpoint" params={params} className="button">
          {t('close')}
        </Link>
        {isUnchanged && <span className="quiet">{t('destination.unchanged')}</span>}
      </p>
    </form>
  );
}
