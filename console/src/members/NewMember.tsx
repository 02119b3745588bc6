import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { FormDialog } from '../kit/dialog/FormDialog';
import { t, word } from '../kit/messages/t';
import { useSigned } from '../session/session';

export const ROLES = ['read', 'write', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Form for a new member. */
export function NewMember({ onAdded, onClose }: { onAdded: () => Promise<void>; onClose: () => void }): ReactNode {
  const { api } = useSigned();
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('read');
  const add = async (): Promise<void> => {
    await answered(
      api.POST('/v1/members', { body: { email, role, ...(name.trim() !== '' && { name: name.trim() }) } }),
    );
    await onAdded();
  };
  return (
    <FormDialog
      title={t('members.add')}
      action={t('members.add')}
      success={t('members.added')}
      onSubmit={add}
      onClose={onClose}
    >
      <p>{t('members.add-text')}</p>
      <label>
        {t('members.email')}
        <input
          required
          type="email"
          maxLength={254}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          autoFocus
          autoComplete="off"
        />
      </label>
      <label>
        {t('members.name')}
        <input maxLength={200} value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" />
      </label>
      <label>
        {t('members.role')}
        <select value={role} onChange={(event) => setRole(event.target.value as Role)}>
          {ROLES.map((each) => (
            <option key={each} value={each}>
              {word('scope', each)}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}
