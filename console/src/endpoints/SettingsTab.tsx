import { useMutation } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CodeField } from '../kit/form/CodeField';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { type EndpointDetail, useChangeEndpoint, useEndpoint, usePresets } from './endpoint-queries';
import { changesOf, METHODS, type SettingsDraft, settingsDraftOf, VERIFICATIONS } from './settings-draft';

/** Settings of an endpoint. */
export function SettingsTab(): ReactNode {
  const { id } = useParams({ from: '/$env/endpoints/$id' });
  const { can } = useSigned();
  const { data: endpoint } = useEndpoint(id);
  if (endpoint === undefined) return null;
  if (!can('write')) return <p>{t('needs-write')}</p>;
  return <Form key={`${endpoint.id} ${endpoint.version}`} endpoint={endpoint} />;
}

function Form({ endpoint }: { endpoint: EndpointDetail }): ReactNode {
  const change = useChangeEndpoint(endpoint.id);
  const presets = usePresets();
  const [draft, setDraft] = useState(() => settingsDraftOf(endpoint));
  const set = (changes: Partial<SettingsDraft>): void => setDraft({ ...draft, ...changes });
  const { changes, fault } = changesOf(draft, t('filter-editor.object'));
  const save = useMutation({ mutationFn: () => change(changes) });
  const isGeneric = draft.verification !== 'none' && draft.verification !== 'preset';
  return (
    <form
      className="stacked narrow"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <h2>{t('endpoint.settings')}</h2>
      <label>
        {t('endpoint.name')}
        <input required maxLength={200} value={draft.name} onChange={(event) => set({ name: event.target.value })} />
      </label>
      <label>
        {t('endpoint.url')}
        <input
          required
          maxLength={2048}
          value={draft.url}
          spellCheck={false}
          onChange={(event) => set({ url: event.target.value })}
        />
      </label>
      <p className="quiet">{t('endpoint.url-hint')}</p>
      <label>
        {t('endpoint.preset')}
        <select
          value={draft.preset}
          onChange={(event) =>
            set({ preset: event.target.value, verification: event.target.value === '' ? 'none' : 'preset' })
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
        <select value={draft.verification} onChange={(event) => set({ verification: event.target.value })}>
          {VERIFICATIONS.filter((each) => each !== 'preset' || draft.preset !== '').map((each) => (
            <option key={each} value={each}>
              {each === 'none' ? t('verification.none') : each === 'preset' ? t('verification.preset') : each}
            </option>
          ))}
        </select>
      </label>
      {isGeneric && (
        <CodeField
          label={t('endpoint.verification-config')}
          value={draft.verificationConfig}
          rows={6}
          fault={fault}
          onChange={(verificationConfig) => set({ verificationConfig })}
        />
      )}
      <fieldset className="checks">
        <legend>{t('endpoint.methods-taken')}</legend>
        {METHODS.map((method) => (
          <label key={method} className="check">
            <input
              type="checkbox"
              checked={draft.methods.includes(method)}
              onChange={(event) =>
                set({
                  methods: event.target.checked
                    ? [...draft.methods, method]
                    : draft.methods.filter((each) => each !== method),
                })
              }
            />{' '}
            {method}
          </label>
        ))}
        <p className="quiet">{t('endpoint.methods-hint')}</p>
      </fieldset>
      <Duplicates
        draft={draft}
        hasProviderId={presets.find(({ id }) => id === draft.preset)?.has_id ?? false}
        onChange={set}
      />
      <FaultLine fault={save.error} />
      <p className="actions">
        <button type="submit" className="primary" disabled={save.isPending || fault !== null}>
          {t('save')}
        </button>
        {save.isSuccess && (
          <span className="quiet" role="status">
            ✓ {t('saved')}
          </span>
        )}
      </p>
    </form>
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
