import { answered } from '../api/client';
import { t } from '../kit/messages/t';
import { inObject, inRow } from '../kit/undo/cached-rows';
import type { Change } from '../kit/undo/perform';
import { useReversible } from '../kit/undo/use-reversible';
import { useSigned } from '../session/session';
import type { EndpointItem } from './endpoint-queries';

type Status = EndpointItem['status'];

/**
 * Returns a function that pauses an active endpoint or activates any other endpoint. Offers to undo the change.
 * Activating an endpoint that the service disabled cannot be undone, because the API cannot set the status `disabled`.
 */
export function useStatusChange(): (of: { id: string; name: string; status: Status }) => void {
  const { api, environment: env } = useSigned();
  const run = useReversible();
  return ({ id, name, status: before }) => {
    const changeTo = (status: Exclude<Status, 'disabled'>): Change => ({
      subject: id,
      views: [
        { queryKey: ['endpoints', env], change: inRow(id, { status }) },
        { queryKey: ['endpoint', env, id], change: inObject({ status }) },
      ],
      refreshed: [['attention', env]],
      send: () => answered(api.PATCH('/v1/endpoints/{id}', { params: { path: { id } }, body: { status } })),
      done: t(status === 'active' ? 'undo.activated' : 'undo.paused', { name }),
    });
    const change = changeTo(before === 'active' ? 'paused' : 'active');
    run(before === 'disabled' ? change : { ...change, inverse: changeTo(before) });
  };
}
