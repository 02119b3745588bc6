import { answered } from '../api/client';
import { t } from '../kit/messages/t';
import { inObject, inRow } from '../kit/undo/cached-rows';
import type { Change } from '../kit/undo/perform';
import { useReversible } from '../kit/undo/use-reversible';
import { useSigned } from '../session/session';
import type { OwnEndpoint } from './application-queries';

/** Returns a function that enables or disables an endpoint of a customer, and offers to undo the change. */
export function useStatusChange(app: string): (of: OwnEndpoint) => void {
  const { api, environment: env } = useSigned();
  const run = useReversible();
  return ({ id, url, destination, status: before }) => {
    const changeTo = (status: OwnEndpoint['status']): Change => ({
      subject: id,
      views: [
        { queryKey: ['own-endpoints', env, app], change: inRow(id, { status }) },
        { queryKey: ['own-endpoint', env, app, id], change: inObject({ status, disabled_reason: null }) },
      ],
      refreshed: [
        ['attention', env],
        ['own-endpoint-stats', env, app, id],
        ['own-endpoint-attempts', env, app, id],
      ],
      send: () =>
        answered(
          api.PATCH('/v1/app/{app}/endpoints/{endpoint}', {
            params: { path: { app, endpoint: id } },
            body: { status } as never,
          }),
        ),
      done: t(status === 'active' ? 'undo.enabled' : 'undo.disabled', { name: url ?? destination ?? id }),
    });
    run({ ...changeTo(before === 'active' ? 'disabled' : 'active'), inverse: changeTo(before) });
  };
}
