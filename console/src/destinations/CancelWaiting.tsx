import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

/** Button that cancels the waiting deliveries of a destination. */
export function CancelWaiting({
  id,
  name,
  onDone,
  onClose,
}: {
  id: string;
  name: string;
  onDone: (cancelled: number) => void;
  onClose: () => void;
}): ReactNode {
  const { api, environment: env } = useSigned();
  const [type, setType] = useState('');
  const cancel = async (): Promise<void> => {
    const { cancelled } = await answered(
      api.POST('/v1/destinations/{id}/cancel', {
        params: { path: { id } },
        body: type.trim() === '' ? {} : { event_type: type.trim() },
      }),
    );
    onDone(cancelled);
  };
  return (
    <Confirm
      title={t('destination.cancel')}
      action={t('destination.cancel')}
      isDangerous
      typed={name}
      onConfirm={cancel}
      onClose={onClose}
    >
      <p>
        {t('destination.cancel-text')} <strong>{t(`environment.${env}`)}</strong>.
      </p>
      <label>
        {t('destination.cancel-type')}
        <input
          value={type}
          maxLength={256}
          onChange={(event) => setType(event.target.value)}
          autoComplete="off"
          spellCheck={false}
        />
      </label>
    </Confirm>
  );
}
