import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import type { OwnEndpoint } from './application-queries';

interface DisableOwnEndpointProps {
  app: string;
  of: OwnEndpoint;
  onClose: () => void;
}

/**
 * Asks for confirmation before disabling an endpoint if that ends pending deliveries at once. Undo does not restore
 * these deliveries.
 */
export function DisableOwnEndpoint({ app, of, onClose }: DisableOwnEndpointProps): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const name = of.url ?? of.destination ?? of.id;
  const disable = async (): Promise<void> => {
    await answered(
      api.PATCH('/v1/app/{app}/endpoints/{endpoint}', {
        params: { path: { app, endpoint: of.id } },
        body: { status: 'disabled' } as never,
      }),
    );
    for (const key of ['own-endpoint', 'own-endpoint-stats', 'own-endpoint-attempts'])
      await queries.invalidateQueries({ queryKey: [key, env, app, of.id] });
    for (const queryKey of [
      ['own-endpoints', env, app],
      ['attention', env],
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
      <p>
        {t('own-endpoint.disable-text')} {t('undo.pending-canceled')}
      </p>
    </Confirm>
  );
}
