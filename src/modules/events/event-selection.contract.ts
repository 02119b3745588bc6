import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

/** Filters of the event list, as given by the caller. */
export interface SelectionQuery {
  status?: string | string[];
  endpoint?: string;
  destination?: string;
  application?: string;
  event_type?: string;
  message_id?: string;
  direction?: 'outbound' | 'inbound';
  error?: string;
  q?: string;
  since?: string;
  until?: string;
}

/** Resolved filters. The value can be stored as JSON and passed back unchanged. */
export interface EventSelection {
  /** Range of event ids. `beforeId` is exclusive. */
  fromId: Id;
  beforeId: Id;
  /**
   * The target that the filters name, if any. `destinationId` is a destination or an ad-hoc URL, `targetId` an
   * application's endpoint that has a URL, `endpointId` another endpoint.
   */
  destinationId?: Id;
  targetId?: Id;
  endpointId?: Id;
  applicationId?: Id;
  messageId?: Id;
}

/** One page of selected events, newest first. */
export interface SelectedEvents {
  events: { id: Id; expiresOn: string }[];
  /** The next page starts before this id; null if there is none. */
  beforeId: Id | null;
}

/** The number of selected events. */
export interface SelectionCount {
  count: number;
  /** True if there may be more. */
  isCapped: boolean;
  /** Time at which counting stopped early, in milliseconds since the epoch; null if it did not stop early. */
  searchedTo: number | null;
}

/** Event selections, for operations on all events that a filtered list shows. */
export abstract class EventSelections {
  /** Resolves the filters. Returns null if no event can match. Throws 400 for invalid filters. */
  abstract resolve(tenant: Tenant, query: SelectionQuery): Promise<EventSelection | null>;

  /** Counts the selected events like the list's count. Throws 400 for invalid filters. */
  abstract count(tenant: Tenant, query: SelectionQuery): Promise<SelectionCount>;

  /**
   * Returns a page of selected events. A page scans a bounded number of rows, so it can be empty while more events
   * follow.
   */
  abstract page(environmentId: number, selection: EventSelection, limit: number): Promise<SelectedEvents>;
}
