import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { hasSharedKey, type VerificationChanges, type VerificationSettings } from './verification-draft';

/** Props of the forms for the settings of one scheme. */
export interface VerificationFormProps {
  scheme: string;
  settings: VerificationSettings;
  onChange: (changes: VerificationChanges) => void;
}

/** Field for the encoding of a shared secret. */
export function KeyEncodingField({ scheme, settings, onChange }: VerificationFormProps): ReactNode {
  if (!hasSharedKey(scheme) || scheme === 'jwt') return null;
  return (
    <label>
      {t('verify.key-encoding')}
      <select
        value={settings.keyEncoding ?? 'utf8'}
        onChange={({ target }) =>
          onChange({
            keyEncoding:
              target.value === 'utf8' ? undefined : (target.value as NonNullable<typeof settings.keyEncoding>),
          })
        }
      >
        <option value="utf8">{t('verify.key-text')}</option>
        <option value="base64">Base64</option>
        <option value="hex">Hex</option>
        <option value="whsec">{t('verify.key-whsec')}</option>
      </select>
    </label>
  );
}
