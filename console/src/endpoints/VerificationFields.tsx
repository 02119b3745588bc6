import { type ReactNode, useState } from 'react';
import { CodeField } from '../kit/form/CodeField';
import type { JsonFault } from '../kit/json/read-json';
import { t } from '../kit/messages/t';
import type { VerificationFormProps } from './KeyEncodingField';
import { SignatureFields } from './SignatureFields';
import { TokenFields } from './TokenFields';
import {
  exampleHeaders,
  formOf,
  readVerification,
  signedContentOf,
  type VerificationChanges,
  type VerificationSettings,
  writeVerification,
} from './verification-draft';

/** Settings of the sender's signature scheme, as a form or as JSON. */
export function VerificationFields({
  scheme,
  text,
  fault,
  onChange,
}: {
  scheme: string;
  /** The settings as JSON. Empty for the defaults. */
  text: string;
  fault: JsonFault | null;
  onChange: (text: string) => void;
}): ReactNode {
  const [isJson, setJson] = useState(false);
  const settings = readVerification(text);
  const form = formOf(scheme);
  if (form === 'none') return null;
  if (form === 'fixed')
    return <p className="quiet">{t(scheme === 'basic' ? 'verify.basic-hint' : 'verify.bearer-hint')}</p>;
  const change = (changes: VerificationChanges): void => onChange(writeVerification(settings ?? {}, changes));
  const props = { scheme, settings: settings ?? {}, onChange: change };
  const isForm = !isJson && settings !== null;
  return (
    <fieldset className="stacked verification">
      <legend>{t('verify.title')}</legend>
      {!isForm && (
        <CodeField label={t('endpoint.verification-config')} value={text} rows={8} fault={fault} onChange={onChange} />
      )}
      {isForm && form === 'signature' && <SignatureFields {...props} />}
      {isForm && form === 'token' && <TokenFields {...props} />}
      {isForm && form === 'api-key' && <KeyFields {...props} />}
      {settings !== null && <Example scheme={scheme} settings={settings} />}
      <p>
        <button type="button" className="small" disabled={settings === null} onClick={() => setJson(!isJson)}>
          {t(isForm ? 'verify.as-json' : 'verify.as-form')}
        </button>
      </p>
    </fieldset>
  );
}

function KeyFields({ settings, onChange }: VerificationFormProps): ReactNode {
  const { header, queryParameter } = settings;
  return (
    <div className="fields">
      <label>
        {t('verify.key-place')}
        <select
          value={queryParameter === undefined ? 'header' : 'query'}
          onChange={({ target }) =>
            onChange(
              target.value === 'query'
                ? { header: undefined, queryParameter: 'token' }
                : { header: undefined, queryParameter: undefined },
            )
          }
        >
          <option value="header">{t('verify.key-header')}</option>
          <option value="query">{t('verify.key-query')}</option>
        </select>
      </label>
      <label>
        {t(queryParameter === undefined ? 'verify.header' : 'verify.parameter')}
        {queryParameter === undefined ? (
          <input
            value={header ?? ''}
            maxLength={128}
            placeholder="x-api-key"
            spellCheck={false}
            onChange={({ target }) => onChange({ header: target.value || undefined })}
          />
        ) : (
          <input
            required
            value={queryParameter}
            maxLength={128}
            spellCheck={false}
            onChange={({ target }) => onChange({ queryParameter: target.value })}
          />
        )}
      </label>
    </div>
  );
}

/** Shows the headers of a request that the settings accept. */
function Example({ scheme, settings }: { scheme: string; settings: VerificationSettings }): ReactNode {
  const lines = exampleHeaders(scheme, settings);
  return (
    <div>
      <p className="quiet">{t('verify.example')}</p>
      <pre tabIndex={0} role="group" aria-label={t('verify.example')}>
        {[
          ...lines,
          ...(formOf(scheme) === 'signature' ? ['', `${t('verify.signs')} ${signedContentOf(settings)}`] : []),
        ].join('\n')}
      </pre>
    </div>
  );
}
