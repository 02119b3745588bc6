import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { toast } from '../kit/toast/toasts';
import { useSigned } from '../session/session';

export const ROLES = ['read', 'write', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Form for a new member. */
export function NewMember({ onAdded, onClose }: { onAdded: () => Promise<void>; onClose: () => void }): ReactNode {
  const { api } = useSigned();
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('read');
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const add = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      await answered(
        api.POST('/v1/members', { body: { email, role, ...(name.trim() !== '' && { name: name.trim() }) } }),
      );
      await onAdded();
      onClose();
      toast(t('members.added'));
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('members.add')} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
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
        <FaultLine fault={fault} />
        <p className="actions">
          <button type="submit" className="primary" disabled={isBusy}>
            {t('members.add')}
          </button>
          <button type="button" onClick={onClose}>
            {t('close')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
