import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { EditNotes } from '../kit/form/EditNotes';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { TimeField } from '../kit/time/TimeField';
import { useSigned } from '../session/session';
import type { OwnEndpoint } from './application-queries';
import { DisableOwnEndpoint } from './DisableOwnEndpoint';
import { useHasPending } from './endpoint-health';
import { useStatusChange } from './use-status-change';

type Asked = 'test' | 'recover' | 'delete';

/** Actions on an endpoint of a customer. Actions that cannot be undone require confirmation. */
export function OwnEndpointActions({ app, of }: { app: string; of: OwnEndpoint }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [isDisabling, setDisabling] = useState(false);
  const [type, setType] = useState(of.event_types.find((each) => !each.endsWith('*')) ?? 'posthorn.test');
  const [since, setSince] = useState('');
  const [job, setJob] = useState<string | null>(null);
  const changeStatus = useStatusChange(app);
  const hasPending = useHasPending(app);
  const switchStatus = async (): Promise<void> => {
    if (of.status === 'active' && (await hasPending(of))) setDisabling(true);
    else changeStatus(of);
  };
  const params = { path: { app, endpoint: of.id } };
  const refresh = async (): Promise<void> => {
    for (const key of ['own-endpoint', 'own-endpoint-stats', 'own-endpoint-attempts'])
      await queries.invalidateQueries({ queryKey: [key, env, app, of.id] });
    await queries.invalidateQueries({ queryKey: ['own-endpoints', env, app] });
  };
  const acts: Readonly<Record<Asked, () => Promise<unknown>>> = {
    test: () =>
      answered(api.POST('/v1/app/{app}/endpoints/{endpoint}/test', { params, body: { event_type: type } })).then(
        refresh,
      ),
    recover: async () =>
      setJob(
        (
          await answered(
            api.POST('/v1/app/{app}/endpoints/{endpoint}/recover', {
              params,
              body: { since, include_cancelled: false },
            }),
          )
        ).id,
      ),
    delete: async () => {
      await answered(api.DELETE('/v1/app/{app}/endpoints/{endpoint}', { params }));
      await navigate({ to: '/$env/applications/$id/endpoints', params: { env, id: app } });
      queries.removeQueries({ queryKey: ['own-endpoint', env, app, of.id] });
      await queries.invalidateQueries({ queryKey: ['own-endpoints', env, app] });
    },
  };
  const name = of.url ?? of.id;
  const labels: Readonly<Record<Asked, string>> = {
    test: t('test.send'),
    recover: t('own-endpoint.recover'),
    delete: t('delete'),
  };
  const texts: Readonly<Record<Asked, string>> = {
    test: t('own-endpoint.test-text'),
    recover: t('repair.recover-text'),
    delete: t('own-endpoint.delete-text'),
  };
  return (
    <span className="actions">
      <Link
        to="/$env/applications/$id/endpoints/$endpoint/edit"
        params={{ env, id: app, endpoint: of.id }}
        className="button"
      >
        {t('edit')}
      </Link>
      <button type="button" onClick={() => void switchStatus()}>
        {t(of.status === 'active' ? 'disable' : 'enable')}
      </button>
      {(['test', 'recover'] as const).map((act) => (
        <button key={act} type="button" onClick={() => setAsked(act)}>
          {labels[act]}
        </button>
      ))}
      <EditNotes
        name={name}
        notes={of.metadata}
        onSave={(metadata) =>
          answered(api.PATCH('/v1/app/{app}/endpoints/{endpoint}', { params, body: { metadata } as never })).then(
            refresh,
          )
        }
      />
      <button
        type="button"
        className="destructive"
        aria-label={`${labels.delete}: ${name}`}
        onClick={() => setAsked('delete')}
      >
        {labels.delete}
      </button>
      {isDisabling && <DisableOwnEndpoint app={app} of={of} onClose={() => setDisabling(false)} />}
      {job !== null && (
        <span role="status">
          {t('job-link.begun')} <PathLink to={`/${env}/jobs/${job}`}>{t('job-link.open')}</PathLink>
        </span>
      )}
      {asked !== null && (
        <Confirm
          title={asked === 'delete' ? `${labels.delete}: ${name}` : labels[asked]}
          action={labels[asked]}
          isDangerous={asked === 'delete'}
          onConfirm={acts[asked]}
          onClose={() => setAsked(null)}
          {...(asked === 'delete' && { typed: name })}
        >
          <p>{texts[asked]}</p>
          {asked === 'test' && (
            <p>
              <label>
                {t('column.type')}
                <input
                  required
                  maxLength={256}
                  value={type}
                  spellCheck={false}
                  autoComplete="off"
                  onChange={(event) => setType(event.target.value)}
                />
              </label>
            </p>
          )}
          {asked === 'recover' && (
            <p>
              <TimeField label={t('range-replay.since')} value={since} onChange={setSince} isRequired />
            </p>
          )}
        </Confirm>
      )}
    </span>
  );
}
