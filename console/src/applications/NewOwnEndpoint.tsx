import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Dialog } from '../kit/dialog/Dialog';
import { FormDialog } from '../kit/dialog/FormDialog';
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
  const { changes, filterFault, isWrong } = endpointChangesOf(draft, NEW_ENDPOINT, t('filter-editor.object'));
  const create = async (): Promise<void> => {
    const body = { ...changes, timeout_ms: null, asymmetric: null };
    const made = await answered(api.POST('/v1/app/{app}/endpoints', { params: { path: { app: id } }, body }));
    await queries.invalidateQueries({ queryKey: ['own-endpoints', env, id] });
    await queries.invalidateQueries({ queryKey: ['application', env, id] });
    setSecret(made.secret);
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
    <FormDialog
      title={t('own-endpoint.new')}
      action={t('create')}
      isOff={isWrong}
      keepsOpen
      onSubmit={create}
      onClose={onClose}
    >
      <EndpointFields
        draft={draft}
        hasUrl
        filterFault={filterFault}
        onChange={(edited) => setDraft((now) => ({ ...now, ...edited }))}
      />
    </FormDialog>
  );
}
