import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';

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

/** Resolved filters of a list. They can be stored as JSON and passed back unchanged. */
export interface EventSelection {
  /** Range of event ids. `beforeId` is exclusive. */
  fromId: Id;
  beforeId: Id;
  /** `targetId` is an application's endpoint with a URL, `endpointId` any other. Ad-hoc URLs are destinations. */
  destinationId?: Id;
  targetId?: Id;
  endpointId?: Id;
  applicationId?: Id;
  messageId?: Id;
}

/** A page of events, newest first. */
export interface SelectedEvents {
  events: { id: Id; expiresOn: string }[];
  /** Start of the next page; null if there is none. */
  beforeId: Id | null;
}

export interface SelectionCount {
  count: number;
  isCapped: boolean;
  /** Time at which counting stopped early, in milliseconds since the epoch; null if it did not stop early. */
  searchedTo: number | null;
}

/** Selects all events that a filtered list shows, for bulk operations. */
export abstract class EventSelections {
  /** Null if no event can match. Throws 400 for invalid filters. */
  abstract resolve(tenant: Tenant, query: SelectionQuery): Promise<EventSelection | null>;

  /** Counts the selected events, with the limits of the list. Throws 400 for invalid filters. */
  abstract count(tenant: Tenant, query: SelectionQuery): Promise<SelectionCount>;

  /** A page scans a bounded number of rows, so it can be empty while more events follow. */
  abstract page(environmentId: number, selection: EventSelection, limit: number): Promise<SelectedEvents>;
}
