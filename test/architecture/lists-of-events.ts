import type { EventFilter } from '../../src/modules/events/event-lists.js';
import type { DeliveryStatus } from '../../src/modules/events/event-rows.js';
import { APPLICATION, ENDPOINT, REPEATED_ID, ROUTED_TARGET } from './ledger-of-a-million.js';

/** Maximum number of database pages for a list of 50 events or for one event, however many events are stored. */
export const PAGES_MAX = 2_000;
export const TARGET = '00000000-0000-0000-0000-00000000000a';
export const TYPE = 'type.10';

export type ListFilter = Pick<EventFilter, 'eventType' | 'targetId'> & { status?: DeliveryStatus };

/** Index that a list reads first if its only filter is this status, according to the comments in events.store.ts. */
const STARTS: Record<DeliveryStatus, string> = {
  retrying: 'due_deliveries_pkey',
  delivered: 'deliveries_pkey',
  dlq: 'deliveries_status_idx',
  failed: 'deliveries_status_idx',
};

/**
 * Returns the index that a list must use. Returns null if the page limit alone is enough, so that any index is allowed.
 */
export function indexFor({ status, eventType, targetId }: ListFilter): string | null {
  if (status) return eventType || targetId ? null : STARTS[status];
  return targetId ? 'events_target_id_idx' : eventType ? 'events_event_type_idx' : 'events_pkey';
}

/**
 * Returns the maximum number of database pages for a list. Only every fiftieth event has the filtered type, so a list
 * of fifty events of this type reads 2,550 rows.
 */
export const boundFor = ({ status, eventType }: ListFilter): number =>
  status && status !== 'delivered' && eventType ? 5 * PAGES_MAX : PAGES_MAX;

/** The tested combinations of filters, each with its name. */
export const LISTS = ([undefined, 'delivered', 'failed', 'retrying', 'dlq'] as const).flatMap((status) =>
  [undefined, TYPE].flatMap((eventType) =>
    [undefined, TARGET].map((targetId): [string, ListFilter] => [
      [status ?? 'any status', eventType && 'a type', targetId && 'a target'].filter(Boolean).join(', '),
      { status, eventType, targetId },
    ]),
  ),
);

/** States that the tests combine with the targets and filters below. */
export const STATES: [string, Partial<EventFilter>][] = [
  ['any state', {}],
  ['retrying', { status: 'retrying' }],
  ['delivered', { status: 'delivered' }],
  ['dead letters', { status: 'dlq' }],
  ['parked', { status: 'parked' }],
  ['dead letters or failed', { statuses: ['failed', 'dlq'] }],
  ['what is not delivered', { statuses: ['failed', 'retrying', 'dlq'] }],
  ['delivered or failed', { statuses: ['delivered', 'failed'] }],
  ['dead letters or set aside', { statuses: ['dlq', 'quarantined', 'parked', 'ignored'] }],
];
export const AIMS: [string, Partial<EventFilter>][] = [
  ['anywhere', {}],
  ['to a target', { targetId: TARGET }],
  ['of an endpoint', { endpointId: ENDPOINT }],
  ['to a destination', { destinationId: ROUTED_TARGET }],
  ['of an application', { applicationId: APPLICATION }],
];
export const REST: Partial<EventFilter>[] = [undefined, TYPE].flatMap((eventType) =>
  ([undefined, 'inbound'] as const).flatMap((direction) =>
    ([undefined, 'tls', '200'] as const).map((error) => ({ eventType, direction, error })),
  ),
);

/** For each value of the error filter, the status filters that events with this error can match. */
export const STATES_OF: Record<string, string[]> = {
  tls: ['retrying', 'dlq', 'failed,dlq', 'failed,retrying,dlq'],
  '200': ['delivered', 'delivered,failed'],
};

/** Lists filtered by the provider's delivery id. Each list has a title, the delivery id, and further filters. */
export const LISTS_BY_DEDUPE_ID: [string, string, Partial<EventFilter>][] = [
  ['an id', 'delivery-43', {}],
  [
    'an id, of an endpoint, of a type, delivered',
    'delivery-43',
    { endpointId: ENDPOINT, eventType: 'type.43', status: 'delivered' },
  ],
  ['an id, of a destination, dead letters', 'delivery-43', { destinationId: ROUTED_TARGET, status: 'dlq' }],
  ['an id that thousands of deliveries have', REPEATED_ID, {}],
  ['an id that thousands of deliveries have, of a type that none has', REPEATED_ID, { eventType: 'type.none' }],
];
