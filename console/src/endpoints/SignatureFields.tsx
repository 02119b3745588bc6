import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { KeyEncodingField, type VerificationFormProps } from './KeyEncodingField';
import {
  defaultContentOf,
  type HeaderFormat,
  headerFormatOf,
  PLACEHOLDERS,
  SEPARATORS,
  type TimestampPlace,
  timestampPlaceOf,
  withHeaderFormat,
  withTimestampPlace,
} from './verification-draft';

/** Settings of a signature: its header, its encoding, the time of signing, and the signed content. */
export function SignatureFields(props: VerificationFormProps): ReactNode {
  return (
    <>
      <HeaderFields {...props} />
      <TimestampFields {...props} />
      <SignedContent {...props} />
    </>
  );
}

function HeaderFields(props: VerificationFormProps): ReactNode {
  const { scheme, settings, onChange } = props;
  const format = headerFormatOf(settings);
  return (
    <div className="fields">
      <label>
        {t('verify.header')}
        <input
          value={settings.header ?? ''}
          maxLength={128}
          placeholder="x-signature"
          spellCheck={false}
          onChange={({ target }) => onChange({ header: target.value || undefined })}
        />
      </label>
      <label>
        {t('verify.format')}
        <select
          value={format}
          onChange={({ target }) => {
            const chosen = target.value as HeaderFormat;
            const time = chosen !== 'parts' && timestampPlaceOf(settings) === 'part';
            onChange({ ...(time && withTimestampPlace('none', settings)), ...withHeaderFormat(chosen) });
          }}
        >
          <option value="single">{t('verify.format-single')}</option>
          <option value="list">{t('verify.format-list')}</option>
          <option value="parts">{t('verify.format-parts')}</option>
        </select>
      </label>
      {format !== 'single' && (
        <label>
          {t('verify.separator')}
          <select
            value={settings.separator ?? ','}
            onChange={({ target }) => onChange({ separator: target.value as (typeof SEPARATORS)[number] })}
          >
            {SEPARATORS.map((each) => (
              <option key={each} value={each}>
                {each === ' ' ? t('verify.space') : each}
              </option>
            ))}
          </select>
        </label>
      )}
      {format === 'parts' && (
        <label>
          {t('verify.signature-part')}
          <input
            required
            value={settings.signatureField ?? ''}
            maxLength={32}
            size={8}
            pattern="[A-Za-z0-9_.\-]+"
            spellCheck={false}
            onChange={({ target }) => onChange({ signatureField: target.value })}
          />
        </label>
      )}
      <label>
        {t('verify.prefix')}
        <input
          value={settings.prefix ?? ''}
          maxLength={64}
          size={10}
          placeholder={scheme.startsWith('hmac-') ? `${scheme.slice(5)}=` : ''}
          spellCheck={false}
          onChange={({ target }) => onChange({ prefix: target.value || undefined })}
        />
      </label>
      <label>
        {t('verify.encoding')}
        <select
          value={settings.encoding ?? ''}
          onChange={({ target }) => onChange({ encoding: (target.value || undefined) as 'hex' | 'base64' | undefined })}
        >
          <option value="">{t('verify.detect')}</option>
          <option value="hex">Hex</option>
          <option value="base64">Base64</option>
        </select>
      </label>
      <KeyEncodingField {...props} />
    </div>
  );
}

function TimestampFields({ settings, onChange }: VerificationFormProps): ReactNode {
  const place = timestampPlaceOf(settings);
  const name = place === 'part' ? 'timestampField' : 'timestampHeader';
  return (
    <>
      <div className="fields">
        <label>
          {t('verify.time')}
          <select
            value={place}
            onChange={({ target }) => onChange(withTimestampPlace(target.value as TimestampPlace, settings))}
          >
            <option value="none">{t('verify.time-none')}</option>
            <option value="header">{t('verify.time-header')}</option>
            {headerFormatOf(settings) === 'parts' && <option value="part">{t('verify.time-part')}</option>}
          </select>
        </label>
        {place !== 'none' && (
          <>
            <label>
              {t(place === 'part' ? 'verify.time-part-name' : 'verify.time-header-name')}
              <input
                required
                value={settings[name] ?? ''}
                maxLength={place === 'part' ? 32 : 128}
                spellCheck={false}
                onChange={({ target }) => onChange({ [name]: target.value })}
              />
            </label>
            <label>
              {t('verify.tolerance')}
              <input
                type="number"
                min={1}
                max={86_400}
                placeholder="300"
                value={settings.toleranceSeconds ?? ''}
                onChange={({ target }) =>
                  onChange({ toleranceSeconds: target.value === '' ? undefined : Number(target.value) })
                }
              />
            </label>
          </>
        )}
      </div>
      {place !== 'none' && <p className="quiet">{t('verify.time-hint')}</p>}
    </>
  );
}

function SignedContent({ settings, onChange }: VerificationFormProps): ReactNode {
  const { signed } = settings;
  const place = timestampPlaceOf(settings);
  return (
    <div className="stacked">
      <label>
        {t('verify.signed')}
        <input
          value={signed ?? ''}
          maxLength={512}
          placeholder={defaultContentOf(place)}
          spellCheck={false}
          onChange={({ target }) => onChange({ signed: target.value || undefined })}
        />
      </label>
      <p className="actions">
        {PLACEHOLDERS.filter((each) => each !== '{{timestamp}}' || place !== 'none').map((each) => (
          <button
            key={each}
            type="button"
            className="small"
            aria-label={t('verify.insert', { text: each })}
            onClick={() => onChange({ signed: (signed ?? '') + each })}
          >
            {each}
          </button>
        ))}
      </p>
    </div>
  );
}
