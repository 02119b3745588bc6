import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { endpointChangesOf, NEW_ENDPOINT } from './endpoint-draft';
import { EndpointFields } from './EndpointFields';

/** Form for a new endpoint of a customer. Shows the endpoint's secret after the creation. */
export function NewOwnEndpoint({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(NEW_ENDPOINT);
  const [secret, setSecret] = useState<string | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const { changes, filterFault, isWrong } = endpointChangesOf(draft, NEW_ENDPOINT, t('filter-editor.object'));
  const create = async (): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      const body = { ...changes, timeout_ms: null, asymmetric: null };
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
        onChange={() => setFault(null)}
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <EndpointFields
          draft={draft}
          hasUrl
          filterFault={filterFault}
          onChange={(edited) => setDraft((now) => ({ ...now, ...edited }))}
        />
        <FaultLine fault={fault} />
        <p className="actions">
          <button type="submit" className="primary" disabled={isBusy || isWrong}>
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
