import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { FormDialog } from '../kit/dialog/FormDialog';
import { t } from '../kit/messages/t';
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
  const store = async (): Promise<void> => {
    const said = description.trim() === '' ? null : description.trim();
    if (of === null) await answered(api.POST('/v1/secrets', { body: { name, value, description: said } }));
    else
      await answered(
        api.PUT('/v1/secrets/{id}', { params: { path: { id: of.id } }, body: { value, description: said } }),
      );
    await onChanged();
  };
  return (
    <FormDialog
      title={of === null ? t('secrets.new') : `${t('secrets.rotate')}: ${of.name}`}
      action={t('save')}
      isOff={value === ''}
      success={t(of === null ? 'secrets.created' : 'secrets.replaced')}
      onSubmit={store}
      onClose={onClose}
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
    </FormDialog>
  );
}
