import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { DangerZone } from '../kit/form/DangerZone';
import { EditNotes } from '../kit/form/EditNotes';
import { NameField } from '../kit/form/NameField';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type ApplicationDetail, useApplication } from './application-queries';

/** Name and metadata of an application. Deleting it is set apart from the actions on its endpoints. */
export function SettingsTab(): ReactNode {
  const { id } = useParams({ from: '/$env/applications/$id' });
  const { can } = useSigned();
  const { data } = useApplication(id);
  if (data === undefined) return null;
  return (
    <>
      <div className="heading">
        <h2>{t('endpoint.settings')}</h2>
        {can('write') && <Changes of={data} />}
      </div>
      <dl className="facts">
        <div>
          <dt>{t('application.name')}</dt>
          <dd>{data.name}</dd>
        </div>
        <div>
          <dt>{t('created')}</dt>
          <dd>
            <Time at={data.created_at} />
          </dd>
        </div>
      </dl>
      {can('write') && <Deletion of={data} />}
    </>
  );
}

function Changes({ of }: { of: ApplicationDetail }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [name, setName] = useState<string | null>(null);
  const params = { path: { app: of.id } };
  const change = async (body: { name: string } | { metadata: Record<string, string> }): Promise<void> => {
    await answered(api.PATCH('/v1/app/{app}', { params, body }));
    await queries.invalidateQueries({ queryKey: ['application', env, of.id] });
    await queries.invalidateQueries({ queryKey: ['applications', env] });
  };
  return (
    <span className="actions">
      <button type="button" onClick={() => setName(of.name)}>
        {t('application.rename')}
      </button>
      <EditNotes name={of.name} notes={of.metadata} onSave={(metadata) => change({ metadata })} />
      {name !== null && (
        <Confirm
          title={t('application.rename')}
          action={t('save')}
          isOff={name === of.name}
          onConfirm={() => change({ name })}
          onClose={() => setName(null)}
        >
          <p>
            <NameField label={t('application.name')} value={name} onChange={setName} />
          </p>
        </Confirm>
      )}
    </span>
  );
}

function Deletion({ of }: { of: ApplicationDetail }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/app/{app}', { params: { path: { app: of.id } } }));
    await navigate({ to: '/$env/applications', params: { env }, search: {} });
    queries.removeQueries({ queryKey: ['application', env, of.id] });
    await queries.invalidateQueries({ queryKey: ['applications', env] });
  };
  return (
    <DangerZone
      name={of.name}
      text={t('application.delete-text')}
      success={t('application.deleted')}
      onDelete={remove}
    />
  );
}
