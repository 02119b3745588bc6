import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { toast } from '../kit/toast/toasts';
import { useSigned } from '../session/session';

/** Form for a new event type. The page of the new type has the form for its schema. */
export function NewEventType({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [group, setGroup] = useState('');
  const [description, setDescription] = useState('');
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      await answered(
        api.POST('/v1/event-types', {
          body: { name, ...(group !== '' && { group }), ...(description !== '' && { description }) },
        }),
      );
      await queries.invalidateQueries({ queryKey: ['event-types', env] });
      onClose();
      toast(t('event-type.created'));
      void navigate({ to: '/$env/event-types/$name', params: { env, name } });
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('event-type.new')} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label>
          {t('event-type.name')}
          <input
            required
            maxLength={256}
            pattern="[A-Za-z0-9._:\/\-]+"
            value={name}
            onChange={(event) => setName(event.target.value)}
            autoFocus
            autoComplete="off"
            spellCheck={false}
            placeholder="invoice.paid"
          />
        </label>
        <label>
          {t('event-type.group')}
          <input maxLength={100} value={group} onChange={(event) => setGroup(event.target.value)} autoComplete="off" />
        </label>
        <label>
          {t('event-type.description')}
          <input
            maxLength={2000}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
            autoComplete="off"
          />
        </label>
        <FaultLine fault={fault} />
        <p className="actions">
          <button type="submit" className="primary" disabled={isBusy}>
            {t('create')}
          </button>
          <button type="button" onClick={onClose}>
            {t('close')}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
