import { type ReactNode, useState } from 'react';
import { t } from '../kit/messages/t';
import { KeyEncodingField, type VerificationFormProps } from './KeyEncodingField';
import { fromClaimLines, toClaimLines } from './verification-draft';

const TEXTS = ['issuer', 'audience', 'bodyHashClaim'] as const;

/** Settings of a JSON Web Token: its key, its header, and the claims that it must have. */
export function TokenFields(props: VerificationFormProps): ReactNode {
  const { scheme, settings, onChange } = props;
  return (
    <>
      {scheme === 'jwt' && (
        <label>
          {t('verify.jwks')}
          <input
            type="url"
            required
            maxLength={2048}
            value={settings.jwksUrl ?? ''}
            placeholder="https://issuer.example.com/.well-known/jwks.json"
            spellCheck={false}
            onChange={({ target }) => onChange({ jwksUrl: target.value })}
          />
        </label>
      )}
      <div className="fields">
        <label>
          {t('verify.token-header')}
          <input
            value={settings.header ?? ''}
            maxLength={128}
            placeholder="authorization"
            spellCheck={false}
            onChange={({ target }) => onChange({ header: target.value || undefined })}
          />
        </label>
        <KeyEncodingField {...props} />
        {TEXTS.map((name) => (
          <label key={name}>
            {t(`verify.${name}`)}
            <input
              value={settings[name] ?? ''}
              maxLength={512}
              spellCheck={false}
              onChange={({ target }) => onChange({ [name]: target.value || undefined })}
            />
          </label>
        ))}
        <label>
          {t('verify.age')}
          <input
            type="number"
            min={1}
            max={86_400}
            placeholder={settings.bodyHashClaim === undefined ? '300' : ''}
            value={settings.maxAgeSeconds ?? ''}
            onChange={({ target }) =>
              onChange({ maxAgeSeconds: target.value === '' ? undefined : Number(target.value) })
            }
          />
        </label>
      </div>
      <Claims {...props} />
      {scheme === 'jwt' && <p className="quiet">{t('verify.jwt-hint')}</p>}
    </>
  );
}

function Claims({ settings, onChange }: VerificationFormProps): ReactNode {
  const [text, setText] = useState(() => toClaimLines(settings.claims ?? {}));
  const read = fromClaimLines(text);
  return (
    <>
      <label>
        {t('verify.claims')}
        <textarea
          rows={3}
          value={text}
          spellCheck={false}
          placeholder="email=pusher@example.com"
          aria-invalid={typeof read === 'number'}
          onChange={({ target }) => {
            setText(target.value);
            const claims = fromClaimLines(target.value);
            if (typeof claims !== 'number') onChange({ claims: Object.keys(claims).length === 0 ? undefined : claims });
          }}
        />
      </label>
      <p className={typeof read === 'number' ? 'code-fault' : 'quiet'} role="status">
        {typeof read === 'number' ? t('verify.claims-fault', { line: read }) : t('verify.claims-hint')}
      </p>
    </>
  );
}
