import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { toast } from '../kit/toast/toasts';
import { useSigned } from '../session/session';

/** Form for a new application. */
export function NewApplication({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [uid, setUid] = useState('');
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      const { id } = await answered(api.POST('/v1/app', { body: { name, ...(uid !== '' && { uid }) } }));
      await queries.invalidateQueries({ queryKey: ['applications', env] });
      onClose();
      toast(t('application.created'));
      void navigate({ to: '/$env/applications/$id', params: { env, id }, search: {} });
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('application.new')} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label>
          {t('application.name')}
          <input
            required
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.target.value)}
            autoFocus
            autoComplete="off"
          />
        </label>
        <label>
          {t('application.uid')}
          <input
            maxLength={256}
            value={uid}
            onChange={(event) => setUid(event.target.value)}
            autoComplete="off"
            spellCheck={false}
            placeholder="customer-42"
            aria-describedby="uid-hint"
          />
        </label>
        <p className="quiet" id="uid-hint">
          {t('application.uid-hint')}
        </p>
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
