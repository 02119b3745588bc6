import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { readTypes } from './application-filters';

/** Form for a new endpoint of a customer. Shows the endpoint's secret after the creation. */
export function NewOwnEndpoint({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [types, setTypes] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      const body = { url, description, event_types: readTypes(types), timeout_ms: null, asymmetric: null };
      const made = await answered(api.POST('/v1/app/{app}/endpoints', { params: { path: { app: id } }, body }));
      await queries.invalidateQueries({ queryKey: ['own-endpoints', env, id] });
      await queries.invalidateQueries({ queryKey: ['application', env, id] });
      setSecret(made.secret);
    } catch (error) {
      setFault(error);
    } finally {
      setBusy(false);
    }
  };
  if (secret !== null) {
    return (
      <Dialog title={t('secret')} onClose={onClose}>
        <p>{t('own-endpoint.secret-text')}</p>
        <p>
          <code className="secret">{secret}</code>
        </p>
        <p className="actions">
          <CopyButton text={secret} label={t('copy')} />
          <button type="button" onClick={onClose}>
            {t('close')}
          </button>
        </p>
      </Dialog>
    );
  }
  return (
    <Dialog title={t('own-endpoint.new')} onClose={onClose}>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label>
          URL
          <input
            required
            type="url"
            maxLength={2048}
            value={url}
            onChange={(event) => setUrl(event.target.value)}
            autoFocus
            autoComplete="off"
            spellCheck={false}
            placeholder="https://customer.example/webhooks"
          />
        </label>
        <label>
          {t('own-endpoint.description')}
          <input
            maxLength={500}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
            autoComplete="off"
          />
        </label>
        <label>
          {t('own-endpoint.types')}
          <input
            value={types}
            onChange={(event) => setTypes(event.target.value)}
            autoComplete="off"
            spellCheck={false}
            placeholder="invoice.paid, customer.*"
            aria-describedby="types-hint"
          />
        </label>
        <p className="quiet" id="types-hint">
          {t('own-endpoint.types-hint')}
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
