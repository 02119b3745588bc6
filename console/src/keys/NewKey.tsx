import { type ReactNode, useState } from 'react';
import { answered, serviceNowMs } from '../api/client';
import { FormDialog } from '../kit/dialog/FormDialog';
import { NameField } from '../kit/form/NameField';
import { t, word } from '../kit/messages/t';
import { useSigned } from '../session/session';

const SCOPES = ['read', 'write', 'admin'] as const;
const DAY_MS = 86_400_000;
const LIFETIMES = [
  [0, 'key.never'],
  [30, 'key.month'],
  [365, 'key.year'],
] as const;

/** Form for a new API key of this environment. */
export function NewKey({ onIssued, onClose }: { onIssued: (key: string) => void; onClose: () => void }): ReactNode {
  const { api } = useSigned();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<(typeof SCOPES)[number]>('write');
  const [days, setDays] = useState(0);
  const create = async (): Promise<void> => {
    const expires_at = days === 0 ? null : new Date(serviceNowMs() + days * DAY_MS).toISOString();
    const { key } = await answered(api.POST('/v1/keys', { body: { name, scope, expires_at } }));
    onIssued(key);
  };
  return (
    <FormDialog title={t('key.new')} action={t('create')} onSubmit={create} onClose={onClose}>
      <NameField label={t('key.name')} value={name} onChange={setName} />
      <label>
        {t('key.scope')}
        <select value={scope} onChange={(event) => setScope(event.target.value as typeof scope)}>
          {SCOPES.map((each) => (
            <option key={each} value={each}>
              {word('scope', each)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('key.expires')}
        <select value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {LIFETIMES.map(([each, label]) => (
            <option key={each} value={each}>
              {t(label)}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}
