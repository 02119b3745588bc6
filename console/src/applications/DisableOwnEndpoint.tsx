import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import type { OwnEndpoint } from './application-queries';
import { useStatusChange } from './use-status-change';

interface DisableOwnEndpointProps {
  app: string;
  of: OwnEndpoint;
  onClose: () => void;
}

/**
 * Asks for confirmation before disabling an endpoint with pending deliveries. If the endpoint has its own URL, undo
 * saves these deliveries, because they wait for their next attempt. If it uses a destination, they end at once.
 */
export function DisableOwnEndpoint({ app, of, onClose }: DisableOwnEndpointProps): ReactNode {
  const disableWithUndo = useStatusChange(app);
  const disableForGood = useFinalDisabling(app, of);
  const name = of.url ?? of.destination ?? of.id;
  const isReversible = of.url !== null;
  const disable = async (): Promise<void> => {
    if (isReversible) disableWithUndo(of);
    else await disableForGood();
  };
  return (
    <Confirm
      title={t('disable')}
      action={t('disable')}
      isDangerous
      onConfirm={disable}
      onClose={onClose}
      {...(!isReversible && { success: t('undo.disabled', { name }) })}
    >
      <p>
        <strong>
          <bdi>{name}</bdi>
        </strong>
      </p>
      <p>
        {t('own-endpoint.disable-text')} {t(isReversible ? 'own-endpoint.pending-fail' : 'undo.pending-canceled')}
      </p>
    </Confirm>
  );
}

/** Returns a function that disables an endpoint without undo, because its pending deliveries end at once. */
function useFinalDisabling(app: string, { id }: OwnEndpoint): () => Promise<void> {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  return async () => {
    await answered(
      api.PATCH('/v1/app/{app}/endpoints/{endpoint}', {
        params: { path: { app, endpoint: id } },
        body: { status: 'disabled' } as never,
      }),
    );
    for (const key of ['own-endpoint', 'own-endpoint-stats', 'own-endpoint-attempts'])
      await queries.invalidateQueries({ queryKey: [key, env, app, id] });
    for (const queryKey of [
      ['own-endpoints', env, app],
      ['attention', env],
    ])
      await queries.invalidateQueries({ queryKey });
  };
}
