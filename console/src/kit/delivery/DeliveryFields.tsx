import './delivery.css';
import { type ReactNode, useId } from 'react';
import { t } from '../messages/t';
import {
  ATTEMPTS_MAX,
  DEFAULT_DELAYS,
  type DeliveryDraft,
  type DeliveryFault,
  fromDelays,
  type LegacyDraft,
  NEW_LEGACY,
} from './delivery-draft';
import { Schedule } from './Schedule';

interface DeliveryFieldsProps {
  draft: DeliveryDraft;
  fault: DeliveryFault;
  onChange: (changes: Partial<DeliveryDraft>) => void;
}

/** Fields for the delivery settings that destinations and endpoints share. */
export function DeliveryFields({ draft, fault, onChange }: DeliveryFieldsProps): ReactNode {
  return (
    <div className="stacked delivery-fields">
      <Headers value={draft.headers} fault={fault} onChange={(headers) => onChange({ headers })} />
      <Retry draft={draft} fault={fault} onChange={onChange} />
      <Limits draft={draft} onChange={onChange} />
      <Signatures draft={draft} onChange={onChange} />
    </div>
  );
}

function Headers({
  value,
  fault,
  onChange,
}: {
  value: string;
  fault: DeliveryFault;
  onChange: (value: string) => void;
}): ReactNode {
  const hint = useId();
  const line = fault?.field === 'headers' ? fault.line : null;
  return (
    <div>
      <label>
        {t('delivery-settings.headers')}
        <textarea
          rows={3}
          value={value}
          spellCheck={false}
          aria-invalid={line !== null}
          aria-describedby={hint}
          placeholder="x-tenant: 42"
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
      <p className={line === null ? 'quiet' : 'code-fault'} id={hint} role="status">
        {line === null ? t('delivery-settings.headers-hint') : `✕ ${t('delivery-settings.headers-fault', { line })}`}
      </p>
    </div>
  );
}

function Retry({ draft, fault, onChange }: DeliveryFieldsProps): ReactNode {
  const hint = useId();
  const wrong = fault?.field === 'delays' ? fault.text : null;
  if (draft.policy !== '') {
    return (
      <p className="actions">
        <span>{t('delivery-settings.policy', { name: draft.policy })}</span>
        <button type="button" onClick={() => onChange({ policy: '' })}>
          {t('delivery-settings.own-schedule')}
        </button>
      </p>
    );
  }
  const read = fromDelays(draft.delays === '' ? DEFAULT_DELAYS : draft.delays);
  return (
    <div>
      <label>
        {t('delivery-settings.delays')}
        <input
          value={draft.delays}
          maxLength={400}
          spellCheck={false}
          autoComplete="off"
          aria-invalid={wrong !== null}
          aria-describedby={hint}
          placeholder={DEFAULT_DELAYS}
          onChange={(event) => onChange({ delays: event.target.value })}
        />
      </label>
      <p className={wrong === null ? 'quiet' : 'code-fault'} id={hint} role="status">
        {wrong === null
          ? t('delivery-settings.delays-hint', { max: ATTEMPTS_MAX })
          : `✕ ${t('delivery-settings.delays-fault', { text: wrong, max: ATTEMPTS_MAX })}`}
      </p>
      {typeof read !== 'string' && <Schedule retry={{ schedule: read, max_attempts: read.length }} isDraft />}
    </div>
  );
}

function Limits({ draft, onChange }: Omit<DeliveryFieldsProps, 'fault'>): ReactNode {
  return (
    <div className="fields">
      <label>
        {t('delivery-settings.rate')}
        <input
          type="number"
          min={0.001}
          max={1_000_000}
          step="any"
          value={draft.perSecond}
          placeholder={t('delivery-settings.unlimited')}
          onChange={(event) => onChange({ perSecond: event.target.value })}
        />
      </label>
      <label>
        {t('delivery-settings.concurrency')}
        <input
          type="number"
          min={1}
          max={1_000}
          value={draft.concurrency}
          placeholder={t('delivery-settings.adaptive')}
          onChange={(event) => onChange({ concurrency: event.target.value })}
        />
      </label>
      <label>
        {t('delivery-settings.timeout')}
        <input
          type="number"
          min={0.1}
          max={15}
          step="any"
          value={draft.timeoutSeconds}
          placeholder="15"
          onChange={(event) => onChange({ timeoutSeconds: event.target.value })}
        />
      </label>
    </div>
  );
}

function Signatures({ draft, onChange }: Omit<DeliveryFieldsProps, 'fault'>): ReactNode {
  const { legacy } = draft;
  return (
    <details open={draft.asymmetric || legacy !== null}>
      <summary>{t('delivery-settings.signatures')}</summary>
      <div className="stacked">
        <label className="check">
          <input
            type="checkbox"
            checked={draft.asymmetric}
            onChange={(event) => onChange({ asymmetric: event.target.checked })}
          />{' '}
          {t('delivery-settings.asymmetric')}
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={legacy !== null}
            onChange={(event) => onChange({ legacy: event.target.checked ? NEW_LEGACY : null })}
          />{' '}
          {t('delivery-settings.legacy')}
        </label>
        {legacy !== null && (
          <Legacy draft={legacy} onChange={(changes) => onChange({ legacy: { ...legacy, ...changes } })} />
        )}
      </div>
    </details>
  );
}

const ALGORITHMS = ['sha256', 'sha512', 'sha384', 'sha1', 'md5'] as const;
const ENCODINGS = ['hex', 'base64'] as const;
const TEXTS = [
  ['header', 'delivery-settings.legacy-header', 'X-Acme-Signature'],
  ['content', 'delivery-settings.legacy-content', '{timestamp}.{body}'],
  ['format', 'delivery-settings.legacy-format', 't={timestamp},v1={signature}'],
  ['timestampHeader', 'delivery-settings.legacy-timestamp', 'X-Acme-Timestamp'],
  ['idHeader', 'delivery-settings.legacy-id', 'X-Acme-Delivery'],
] as const;

function Legacy({
  draft,
  onChange,
}: {
  draft: LegacyDraft;
  onChange: (changes: Partial<LegacyDraft>) => void;
}): ReactNode {
  return (
    <div className="fields">
      {TEXTS.map(([name, label, placeholder], i) => (
        <label key={name}>
          {t(label)}
          <input
            required={i < 3}
            maxLength={200}
            value={draft[name]}
            placeholder={placeholder}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => onChange({ [name]: event.target.value })}
          />
        </label>
      ))}
      <label>
        {t('delivery-settings.legacy-algorithm')}
        <select value={draft.algorithm} onChange={(event) => onChange({ algorithm: event.target.value })}>
          {ALGORITHMS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label>
        {t('delivery-settings.legacy-encoding')}
        <select value={draft.encoding} onChange={(event) => onChange({ encoding: event.target.value })}>
          {ENCODINGS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label>
        {t('delivery-settings.legacy-secret')}
        <input
          type="password"
          maxLength={1_024}
          value={draft.secret}
          autoComplete="new-password"
          placeholder={t('delivery-settings.legacy-kept')}
          onChange={(event) => onChange({ secret: event.target.value })}
        />
      </label>
    </div>
  );
}
