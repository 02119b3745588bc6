import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

interface DisableDestinationProps {
  id: string;
  name: string;
  onClose: () => void;
}

/**
 * Asks for confirmation before disabling a destination with pending deliveries. These deliveries fail, and undo does
 * not restore them.
 */
export function DisableDestination({ id, name, onClose }: DisableDestinationProps): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const disable = async (): Promise<void> => {
    await answered(
      api.PATCH('/v1/destinations/{id}', { params: { path: { id } }, body: { status: 'disabled' } as never }),
    );
    for (const queryKey of [
      ['destination', env, id],
      ['destinations', env],
      ['attention', env],
      ['pending-of', env, id],
    ])
      await queries.invalidateQueries({ queryKey });
  };
  return (
    <Confirm
      title={t('disable')}
      action={t('disable')}
      isDangerous
      success={t('undo.disabled', { name })}
      onConfirm={disable}
      onClose={onClose}
    >
      <p>
        <strong>
          <bdi>{name}</bdi>
        </strong>
      </p>
      <p>{t('destination.disable')}</p>
    </Confirm>
  );
}
