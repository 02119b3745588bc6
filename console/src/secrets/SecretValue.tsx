import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { toast } from '../kit/toast/toasts';
import { useSigned } from '../session/session';

/** Form for a new secret, or for a new value of an existing one. */
export function SecretValue({
  of,
  onChanged,
  onClose,
}: {
  of: Schemas['SecretItem'] | null;
  onChanged: () => Promise<void>;
  onClose: () => void;
}): ReactNode {
  const { api } = useSigned();
  const [name, setName] = useState('');
  const [description, setDescription] = useState(of?.description ?? '');
  const [value, setValue] = useState('');
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const store = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      const said = description.trim() === '' ? null : description.trim();
      if (of === null) await answered(api.POST('/v1/secrets', { body: { name, value, description: said } }));
      else
        await answered(
          api.PUT('/v1/secrets/{id}', { params: { path: { id: of.id } }, body: { value, description: said } }),
        );
      await onChanged();
      onClose();
      toast(t(of === null ? 'secrets.created' : 'secrets.replaced'));
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={of === null ? t('secrets.new') : `${t('secrets.rotate')}: ${of.name}`} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void store();
        }}
      >
        {of === null && (
          <label>
            {t('secrets.name')}
            <input
              required
              maxLength={64}
              value={name}
              onChange={(event) => setName(event.target.value)}
              autoFocus
              autoComplete="off"
              spellCheck={false}
              placeholder="CRM_TOKEN"
            />
          </label>
        )}
        {of !== null && <p>{t('secrets.rotate-text')}</p>}
        <label>
          {t('secrets.value')}
          <input
            required
            type="password"
            value={value}
            onChange={(event) => setValue(event.target.value)}
            autoFocus={of !== null}
            autoComplete="new-password"
            spellCheck={false}
          />
        </label>
        <p className="quiet">{t('secrets.value-hint')}</p>
        <label>
          {t('description')}
          <input
            maxLength={500}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
            autoComplete="off"
          />
        </label>
        <FaultLine fault={fault} />
        <p className="actions">
          <button type="submit" className="primary" disabled={isBusy || value === ''}>
            {t('save')}
          </button>
          <button type="button" onClick={onClose}>
            {t('close')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
