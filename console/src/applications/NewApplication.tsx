import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { FormDialog } from '../kit/dialog/FormDialog';
import { NameField } from '../kit/form/NameField';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

/** Form for a new application. */
export function NewApplication({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [uid, setUid] = useState('');
  const create = async (): Promise<void> => {
    const { id } = await answered(api.POST('/v1/app', { body: { name, ...(uid !== '' && { uid }) } }));
    await queries.invalidateQueries({ queryKey: ['applications', env] });
    void navigate({ to: '/$env/applications/$id', params: { env, id }, search: {} });
  };
  return (
    <FormDialog
      title={t('application.new')}
      action={t('create')}
      success={t('application.created')}
      onSubmit={create}
      onClose={onClose}
    >
      <NameField label={t('application.name')} value={name} onChange={setName} />
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
    </FormDialog>
  );
}
