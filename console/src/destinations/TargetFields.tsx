import { type ReactNode, useId } from 'react';
import { CodeField } from '../kit/form/CodeField';
import { t } from '../kit/messages/t';
import { isOtherType, type TargetDraft, targetFaultOf } from './target-draft';

interface TargetFieldsProps {
  type: string;
  draft: TargetDraft;
  /** True if the destination already has credentials, which the service does not return. */
  hasCredentials: boolean;
  onChange: (changes: Partial<TargetDraft>) => void;
}

/** Fields for the target of a destination: a URL, a queue, or the settings of an extension's type. */
export function TargetFields(props: TargetFieldsProps): ReactNode {
  const { type, draft, onChange } = props;
  if (type === 'https' || type === 'mirror')
    return <UrlField value={draft.url} isRequired onChange={(url) => onChange({ url })} />;
  if (type === 'sqs') return <QueueFields {...props} />;
  return isOtherType(type) ? <OtherFields {...props} /> : null;
}

function UrlField({
  value,
  isRequired,
  onChange,
}: {
  value: string;
  isRequired: boolean;
  onChange: (value: string) => void;
}): ReactNode {
  return (
    <label>
      URL
      <input
        required={isRequired}
        type="url"
        maxLength={2048}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        autoComplete="off"
        spellCheck={false}
        placeholder="https://example.com/webhooks"
      />
    </label>
  );
}

const QUEUE = [
  ['queueUrl', 'destination.queue-url', 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders'],
  ['region', 'destination.region', 'eu-west-1'],
  ['endpoint', 'destination.queue-endpoint', ''],
  ['messageGroupId', 'destination.message-group', ''],
] as const;
const CREDENTIALS = [
  ['accessKeyId', 'destination.access-key', 'AKIA…'],
  ['secretAccessKey', 'destination.secret-key', ''],
  ['sessionToken', 'destination.session-token', ''],
] as const;

function QueueFields({ draft, hasCredentials, onChange }: TargetFieldsProps): ReactNode {
  return (
    <>
      {QUEUE.map(([name, label, placeholder], i) => (
        <label key={name}>
          {t(label)}
          <input
            required={i < 2}
            maxLength={2048}
            value={draft[name]}
            placeholder={placeholder}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => onChange({ [name]: event.target.value })}
          />
        </label>
      ))}
      <fieldset className="stacked">
        <legend>{t('destination.credentials')}</legend>
        {hasCredentials && <p className="quiet">{t('destination.credentials-kept')}</p>}
        {CREDENTIALS.map(([name, label, placeholder], i) => (
          <label key={name}>
            {t(label)}
            <input
              required={i < 2 && !hasCredentials}
              type={i === 0 ? 'text' : 'password'}
              maxLength={8_192}
              value={draft[name]}
              placeholder={placeholder}
              spellCheck={false}
              autoComplete="new-password"
              onChange={(event) => onChange({ [name]: event.target.value })}
            />
          </label>
        ))}
      </fieldset>
    </>
  );
}

function OtherFields({ type, draft, hasCredentials, onChange }: TargetFieldsProps): ReactNode {
  const hint = useId();
  const { config, credentialsLine } = targetFaultOf(type, draft, t('filter-editor.object'));
  return (
    <>
      <UrlField value={draft.url} isRequired={false} onChange={(url) => onChange({ url })} />
      <CodeField
        label={t('destination.type-config')}
        value={draft.config}
        rows={6}
        fault={config}
        onChange={(text) => onChange({ config: text })}
      />
      <label>
        {t('destination.credentials')}
        <textarea
          rows={3}
          value={draft.credentials}
          spellCheck={false}
          autoComplete="off"
          aria-invalid={credentialsLine !== null}
          aria-describedby={hint}
          onChange={(event) => onChange({ credentials: event.target.value })}
        />
      </label>
      <p className={credentialsLine === null ? 'quiet' : 'code-fault'} id={hint} role="status">
        {credentialsLine === null
          ? `${t('destination.credentials-hint')} ${hasCredentials ? t('destination.credentials-kept') : ''}`
          : `✕ ${t('delivery-settings.headers-fault', { line: credentialsLine })}`}
      </p>
    </>
  );
}
