import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { DangerZone } from '../kit/form/DangerZone';
import { FaultLine, FaultLines } from '../kit/form/FaultLine';
import { locateFault } from '../kit/json/locate-fault';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { BODY_BYTES_MAX, SIZE_UNITS, type SizeUnit } from './body-limit';
import {
  type EndpointDetail,
  useChangeEndpoint,
  useEndpoint,
  useIngestDomains,
  usePresetQuery,
  usePresets,
} from './endpoint-queries';
import { ProviderSecret } from './ProviderSecret';
import {
  changesOf,
  METHODS,
  SCHEME_NAMES,
  type SettingsDraft,
  settingsDraftOf,
  urlOnHost,
  VERIFICATIONS,
} from './settings-draft';
import { forScheme } from './verification-draft';
import { VerificationFields } from './VerificationFields';

/** Settings of an endpoint. */
export function SettingsTab(): ReactNode {
  const { id } = useParams({ from: '/$env/endpoints/$id' });
  const { can } = useSigned();
  const { data: endpoint } = useEndpoint(id);
  if (endpoint === undefined) return null;
  if (!can('write')) return <p>{t('needs-write')}</p>;
  return (
    <>
      <Form key={`${endpoint.id} ${endpoint.version}`} endpoint={endpoint} />
      <Deletion endpoint={endpoint} />
    </>
  );
}

function Deletion({ endpoint: { id, name } }: { endpoint: EndpointDetail }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/endpoints/{id}', { params: { path: { id } } }));
    await navigate({ to: '/$env/endpoints', params: { env }, search: {} });
    queries.removeQueries({ queryKey: ['endpoint', env, id] });
    await queries.invalidateQueries({ queryKey: ['endpoints', env] });
  };
  return <DangerZone name={name} text={t('endpoint.delete-text')} onDelete={remove} />;
}

function Form({ endpoint }: { endpoint: EndpointDetail }): ReactNode {
  const change = useChangeEndpoint(endpoint.id);
  const presets = usePresetQuery();
  const hosts = useIngestDomains();
  const [draft, setDraft] = useState(() => settingsDraftOf(endpoint));
  const { changes, fault } = changesOf(draft, t('filter-editor.object'));
  const isDirty = JSON.stringify(draft) !== JSON.stringify(settingsDraftOf(endpoint));
  const save = useMutation({ mutationFn: () => change(changes) });
  const set = (changed: Partial<SettingsDraft>): void => {
    setDraft({ ...draft, ...changed });
    if (!save.isIdle) save.reset();
  };
  return (
    <>
      <form
        className="stacked narrow"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <h2>{t('endpoint.settings')}</h2>
        <FaultLines
          parts={[
            { name: t('endpoint.domain'), fault: hosts.error },
            { name: t('endpoint.preset'), fault: presets.error },
          ]}
        />
        <Address draft={draft} onChange={set} />
        <Verification draft={draft} onChange={set} />
        <VerificationFields
          key={draft.verification}
          scheme={draft.verification}
          text={draft.verificationConfig}
          fault={fault ?? locateFault(draft.verificationConfig, save.error, 'verificationConfig')}
          onChange={(verificationConfig) => set({ verificationConfig })}
        />
        <Methods chosen={draft.methods} onChange={(methods) => set({ methods })} />
        <BodyLimit draft={draft} onChange={set} />
        <Duplicates
          draft={draft}
          hasProviderId={presets.data?.data.find(({ id }) => id === draft.preset)?.has_id ?? false}
          onChange={set}
        />
        <FaultLine fault={save.error} />
        <p className="actions">
          <button type="submit" className="primary" disabled={save.isPending || !isDirty || fault !== null}>
            {t('save')}
          </button>
          {save.isSuccess && (
            <span className="quiet" role="status">
              ✓ {t('saved')}
            </span>
          )}
        </p>
      </form>
      <Secret endpoint={endpoint} isSaved={draft.verification === endpoint.verification} />
    </>
  );
}

/** Props of the parts of the form. */
interface PartProps {
  draft: SettingsDraft;
  onChange: (changes: Partial<SettingsDraft>) => void;
}

function Address({ draft, onChange }: PartProps): ReactNode {
  const domains = useIngestDomains().data?.data ?? [];
  const current = domains.find(({ prefix }) => draft.url.startsWith(prefix));
  return (
    <>
      <label>
        {t('endpoint.name')}
        <input
          required
          maxLength={200}
          value={draft.name}
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </label>
      {domains.length > 1 && (
        <label>
          {t('endpoint.domain')}
          <select
            value={current?.id ?? ''}
            onChange={({ target }) => {
              const prefix = domains.find(({ id }) => id === target.value)?.prefix;
              if (prefix !== undefined) onChange({ url: urlOnHost(draft.url, current?.prefix, prefix) });
            }}
          >
            {current === undefined && <option value="">–</option>}
            {domains.map(({ id, host }) => (
              <option key={id} value={id}>
                {host}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        {t('endpoint.url')}
        <input
          required
          maxLength={2048}
          value={draft.url}
          spellCheck={false}
          onChange={(event) => onChange({ url: event.target.value })}
        />
      </label>
      <p className="quiet">{t('endpoint.url-hint')}</p>
    </>
  );
}

function Verification({ draft, onChange }: PartProps): ReactNode {
  const presets = usePresets();
  return (
    <>
      <label>
        {t('endpoint.preset')}
        <select
          value={draft.preset}
          onChange={(event) =>
            onChange({ preset: event.target.value, verification: event.target.value === '' ? 'none' : 'preset' })
          }
        >
          <option value="">{t('preset.none')}</option>
          {presets.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('endpoint.verification')}
        <select
          value={draft.verification}
          onChange={({ target }) =>
            onChange({
              verification: target.value,
              verificationConfig: forScheme(draft.verificationConfig, draft.verification, target.value),
            })
          }
        >
          {VERIFICATIONS.filter((each) => each !== 'preset' || draft.preset !== '').map((each) => (
            <option key={each} value={each}>
              {each === 'none' || each === 'preset' ? t(`verification.${each}`) : (SCHEME_NAMES[each] ?? each)}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

function Methods({ chosen, onChange }: { chosen: string[]; onChange: (methods: string[]) => void }): ReactNode {
  return (
    <fieldset className="checks">
      <legend>{t('endpoint.methods-taken')}</legend>
      {METHODS.map((method) => (
        <label key={method} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(method)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, method] : chosen.filter((each) => each !== method))
            }
          />{' '}
          {method}
        </label>
      ))}
      <p className="quiet">{t('endpoint.methods-hint')}</p>
    </fieldset>
  );
}

function BodyLimit({ draft, onChange }: PartProps): ReactNode {
  return (
    <>
      <div className="fields">
        <label>
          {t('limit.body')}
          <input
            type="number"
            min={draft.limitUnit === 'bytes' ? 1 : 0.001}
            max={BODY_BYTES_MAX / SIZE_UNITS[draft.limitUnit]}
            step={draft.limitUnit === 'bytes' ? 1 : 'any'}
            placeholder={draft.limitUnit === 'MB' ? '1' : ''}
            value={draft.limit}
            onChange={({ target }) => onChange({ limit: target.value })}
          />
        </label>
        <label>
          {t('limit.unit')}
          <select value={draft.limitUnit} onChange={({ target }) => onChange({ limitUnit: target.value as SizeUnit })}>
            {Object.keys(SIZE_UNITS).map((unit) => (
              <option key={unit} value={unit}>
                {unit === 'bytes' ? t('limit.bytes') : unit}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p className="quiet">{t('limit.hint')}</p>
    </>
  );
}

/** The secret that the saved verification needs. */
function Secret({ endpoint, isSaved }: { endpoint: EndpointDetail; isSaved: boolean }): ReactNode {
  const preset = usePresets().find(({ id }) => id === endpoint.preset) ?? null;
  if (!isSaved || endpoint.verification === 'none' || endpoint.verification === 'jwt') return null;
  const isPublic = endpoint.verification === 'rsa-sha256' || endpoint.verification === 'ed25519';
  const hint = t(isPublic ? 'verify.secret-public' : 'verify.secret-shared');
  return (
    <section className="narrow" aria-labelledby="provider-secret">
      <h2 id="provider-secret">{t('provider-secret')}</h2>
      <p className="quiet">
        {hint} {t(endpoint.has_secret ? 'verify.secret-set' : 'verify.secret-missing')}
      </p>
      <ProviderSecret endpoint={endpoint} hint={preset?.secret ?? hint} />
    </section>
  );
}

function Duplicates({
  draft,
  hasProviderId,
  onChange,
}: {
  draft: SettingsDraft;
  hasProviderId: boolean;
  onChange: (changes: Partial<SettingsDraft>) => void;
}): ReactNode {
  return (
    <div className="fields">
      <label>
        {t('endpoint.repeats')}
        <select
          value={draft.duplicates}
          onChange={(event) => onChange({ duplicates: event.target.value as SettingsDraft['duplicates'] })}
        >
          <option value="">{t('repeats.kept')}</option>
          {(hasProviderId || draft.duplicates === 'provider_id') && (
            <option value="provider_id">{t('repeats.provider')}</option>
          )}
          <option value="header">{t('repeats.header')}</option>
          <option value="body_path">{t('repeats.path')}</option>
        </select>
      </label>
      {(draft.duplicates === 'header' || draft.duplicates === 'body_path') && (
        <label>
          {t(draft.duplicates === 'header' ? 'filter-editor.name' : 'filter-editor.path')}
          <input
            required
            value={draft.duplicatesBy}
            maxLength={1024}
            spellCheck={false}
            placeholder={draft.duplicates === 'header' ? 'x-event-id' : '$.event.id'}
            onChange={(event) => onChange({ duplicatesBy: event.target.value })}
          />
        </label>
      )}
      {draft.duplicates !== '' && (
        <label>
          {t('repeats.hours')}
          <input
            type="number"
            min={1}
            max={8760}
            value={draft.duplicatesHours}
            onChange={(event) => onChange({ duplicatesHours: event.target.value })}
          />
        </label>
      )}
    </div>
  );
}
