import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { FormDialog } from '../kit/dialog/FormDialog';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

/** Form for a new event type. The page of the new type has the form for its schema. */
export function NewEventType({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [group, setGroup] = useState('');
  const [description, setDescription] = useState('');
  const create = async (): Promise<void> => {
    await answered(
      api.POST('/v1/event-types', {
        body: { name, ...(group !== '' && { group }), ...(description !== '' && { description }) },
      }),
    );
    await queries.invalidateQueries({ queryKey: ['event-types', env] });
    void navigate({ to: '/$env/event-types/$name', params: { env, name } });
  };
  return (
    <FormDialog
      title={t('event-type.new')}
      action={t('create')}
      success={t('event-type.created')}
      onSubmit={create}
      onClose={onClose}
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
    </FormDialog>
  );
}
