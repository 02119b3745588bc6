import { answered, type Schemas } from '../api/client';
import { t } from '../kit/messages/t';
import { inObject, inRow } from '../kit/undo/cached-rows';
import type { Change } from '../kit/undo/perform';
import { useReversible } from '../kit/undo/use-reversible';
import { useSigned } from '../session/session';

type Status = Schemas['DestinationItem']['status'];

/** Returns a function that enables an inactive destination or disables an active one, and offers to undo the change. */
export function useStatusChange(): (of: { id: string; name: string; status: Status }) => void {
  const { api, environment: env } = useSigned();
  const run = useReversible();
  return ({ id, name, status: before }) => {
    const changeTo = (status: Status): Change => ({
      subject: id,
      views: [
        { queryKey: ['destinations', env], change: inRow(id, { status }) },
        { queryKey: ['destination', env, id], change: inObject({ status, disabled_reason: null }) },
      ],
      refreshed: [
        ['attention', env],
        ['pending-of', env, id],
      ],
      send: () => answered(api.PATCH('/v1/destinations/{id}', { params: { path: { id } }, body: { status } as never })),
      done: t(status === 'active' ? 'undo.enabled' : 'undo.disabled', { name }),
    });
    run({ ...changeTo(before === 'active' ? 'disabled' : 'active'), inverse: changeTo(before) });
  };
}
