import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine, FaultLines } from '../kit/form/FaultLine';
import { Skeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { DestinationSelect, useDestinationOptions } from '../session/DestinationSelect';
import { ResourceName } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { SystemEvents, useSystemEvents } from './SystemEvents';

type Organization = Schemas['OrgItem'];

/** The organization's names, and the retention and notification settings of the environment. */
export function OrganizationScreen(): ReactNode {
  const { api, environment: env, can } = useSigned();
  const { data, error, isPending } = useQuery({
    queryKey: ['organization', env],
    queryFn: ({ signal }) => answered(api.GET('/v1/org', { signal })),
  });
  const events = useSystemEvents();
  const destinations = useDestinationOptions(can('admin'));
  // Waits for both parts, because the form would move the list below it.
  const isWaiting = isPending || events.isPending;
  return (
    <div className="page">
      <title>{`${t('nav.organization')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.organization')}</h1>
        {!can('admin') && <span className="quiet">{t('organization.readonly')}</span>}
      </div>
      {isWaiting && <Skeleton parts={[can('admin') ? ['fields', 5] : ['facts', 4], 'heading', 'text', ['rows', 8]]} />}
      <FaultLines
        parts={[
          { name: t('nav.organization'), fault: error },
          { name: t('organization.system-destination'), fault: destinations.error },
          { name: t('system.title'), fault: events.error },
        ]}
      />
      {data && !isWaiting && (can('admin') ? <Settings key={JSON.stringify(data)} of={data} /> : <Facts of={data} />)}
      {events.data && !isWaiting && <SystemEvents types={events.data.data} />}
    </div>
  );
}

function Facts({ of }: { of: Organization }): ReactNode {
  return (
    <dl className="facts">
      <div>
        <dt>{t('organization.name')}</dt>
        <dd>{of.name}</dd>
      </div>
      <div>
        <dt>{t('organization.slug')}</dt>
        <dd>
          <code>{of.slug}</code>
        </dd>
      </div>
      <div>
        <dt>{t('organization.retention')}</dt>
        <dd>{of.retention_days}</dd>
      </div>
      <div>
        <dt>{t('organization.system-destination')}</dt>
        <dd>{of.system_destination === null ? '–' : <ResourceName id={of.system_destination} />}</dd>
      </div>
    </dl>
  );
}

function Settings({ of }: { of: Organization }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [draft, setDraft] =
    useState<Pick<Organization, 'name' | 'slug' | 'retention_days' | 'public_event_catalog' | 'system_destination'>>(
      of,
    );
  const [fault, setFault] = useState<unknown>(null);
  const [isAsked, setAsked] = useState(false);
  const change = (changes: Partial<typeof draft>): void => setDraft({ ...draft, ...changes });
  const names = ['name', 'slug', 'retention_days', 'public_event_catalog', 'system_destination'] as const;
  const changes = Object.fromEntries(
    names.filter((name) => draft[name] !== of[name]).map((name) => [name, draft[name]]),
  ) as Schemas['OrgChangesBody'];
  const save = async (): Promise<void> => {
    queries.setQueryData(['organization', env], await answered(api.PATCH('/v1/org', { body: changes })));
  };
  const submit = (): void => {
    setFault(null);
    if (changes.slug === undefined) save().catch(setFault);
    else setAsked(true);
  };
  return (
    <form
      className="stacked settings"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label>
        {t('organization.name')}
        <input
          required
          maxLength={200}
          value={draft.name}
          onChange={(event) => change({ name: event.target.value })}
          autoComplete="off"
        />
      </label>
      <label>
        {t('organization.slug')}
        <input
          required
          maxLength={63}
          value={draft.slug}
          onChange={(event) => change({ slug: event.target.value })}
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <fieldset className="stacked">
        <legend>
          {t('organization.environment')} <strong>{t(`environment.${env}`)}</strong>
        </legend>
        <label>
          {t('organization.retention')}
          <input
            required
            type="number"
            min={1}
            value={draft.retention_days}
            onChange={(event) => change({ retention_days: event.target.valueAsNumber })}
          />
        </label>
        <label className="check-row">
          <input
            type="checkbox"
            checked={draft.public_event_catalog}
            onChange={(event) => change({ public_event_catalog: event.target.checked })}
          />{' '}
          {t('organization.catalogue')}
        </label>
        <DestinationSelect
          label={t('organization.system-destination')}
          value={draft.system_destination ?? ''}
          none={t('organization.no-destination')}
          hidesFault
          onChange={(id) => change({ system_destination: id || null })}
        />
      </fieldset>
      <FaultLine fault={fault} />
      <p className="actions">
        <button type="submit" className="primary" disabled={Object.keys(changes).length === 0}>
          {t('save')}
        </button>
      </p>
      {isAsked && (
        <Confirm
          title={t('save')}
          action={t('save')}
          isDangerous
          typed={of.slug}
          onConfirm={save}
          onClose={() => setAsked(false)}
        >
          <p>{t('organization.slug-warning')}</p>
        </Confirm>
      )}
    </form>
  );
}
