import type { EventFilter } from '../../src/modules/events/event-lists.js';
import type { DeliveryStatus } from '../../src/modules/events/event-rows.js';

/** Pages that a list of 50, or the look at one event, may touch however many events there are. */
export const PAGES_MAX = 2_000;
export const TARGET = '00000000-0000-0000-0000-00000000000a';
export const TYPE = 'type.10';

/** What a list of events is asked for. */
export type ListFilter = Pick<EventFilter, 'eventType' | 'targetId'> & { status?: DeliveryStatus };

/** The index that a list starts from when nothing but its status bounds it, as the comments of events.store.ts have it. */
const STARTS: Record<DeliveryStatus, string> = {
  retrying: 'due_deliveries_pkey',
  delivered: 'deliveries_pkey',
  dlq: 'deliveries_status_idx',
  failed: 'deliveries_status_idx',
};

/** The index that must be used, or null where the statement may choose: the bound on its work says enough. */
export function indexFor({ status, eventType, targetId }: ListFilter): string | null {
  if (status) return eventType || targetId ? null : STARTS[status];
  return targetId ? 'events_target_id_idx' : eventType ? 'events_event_type_idx' : 'events_pkey';
}

/** Deliveries do not know their event's type: of the fiftieth that has it, fifty are found among 2,550 looked at. */
export const boundFor = ({ status, eventType }: ListFilter): number =>
  status && status !== 'delivered' && eventType ? 5 * PAGES_MAX : PAGES_MAX;

/** What lists are asked for, each with its name. */
export const LISTS = ([undefined, 'delivered', 'failed', 'retrying', 'dlq'] as const).flatMap((status) =>
  [undefined, TYPE].flatMap((eventType) =>
    [undefined, TARGET].map((targetId): [string, ListFilter] => [
      [status ?? 'any status', eventType && 'a type', targetId && 'a target'].filter(Boolean).join(', '),
      { status, eventType, targetId },
    ]),
  ),
);
