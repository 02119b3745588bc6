import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { ResourceName } from '../session/ResourceName';
import { useSigned } from '../session/session';

/** Settings that use a secret. A secret can be deleted only if it is unused. */
export function SecretUse({
  of,
  onChanged,
  onClose,
}: {
  of: Schemas['SecretItem'];
  onChanged: () => Promise<void>;
  onClose: () => void;
}): ReactNode {
  const { api, environment, can } = useSigned();
  const [isDeleting, setDeleting] = useState(false);
  const { data, error, isPending } = useQuery({
    queryKey: ['secret', environment, of.id],
    queryFn: ({ signal }) => answered(api.GET('/v1/secrets/{id}', { params: { path: { id: of.id } }, signal })),
  });
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/secrets/{id}', { params: { path: { id: of.id } } }));
    await onChanged();
  };
  const users = data?.used_by ?? [];
  if (isDeleting)
    return (
      <Confirm
        title={`${t('delete')}: ${of.name}`}
        action={t('delete')}
        isDangerous
        typed={of.name}
        success={t('secrets.deleted')}
        onConfirm={remove}
        onClose={onClose}
      >
        <p>{t('secrets.delete-text')}</p>
      </Confirm>
    );
  return (
    <Dialog title={`${t('secrets.where')}: ${of.name}`} onClose={onClose}>
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && users.length === 0 && <p>{t('secrets.unused')}</p>}
      {users.length > 0 && (
        <ul>
          {users.map(({ id, kind }) => (
            <li key={`${kind} ${id}`}>
              <ResourceName id={id} />
            </li>
          ))}
        </ul>
      )}
      {users.length > 0 && <p className="quiet">{t('secrets.in-use')}</p>}
      <p className="actions">
        {data && users.length === 0 && can('write') && (
          <button type="button" onClick={() => setDeleting(true)}>
            {t('delete')}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {t('close')}
        </button>
      </p>
    </Dialog>
  );
}
