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

/** Can be stored as JSON and passed back unchanged. */
export interface EventSelection {
  /** `beforeId` is exclusive. */
  fromId: Id;
  beforeId: Id;
  /** `targetId` is an application's endpoint with a URL, `endpointId` any other; destinations include ad-hoc URLs. */
  destinationId?: Id;
  targetId?: Id;
  endpointId?: Id;
  applicationId?: Id;
  messageId?: Id;
}

/** Newest first. */
export interface SelectedEvents {
  events: { id: Id; expiresOn: string }[];
  /** Null if there is no next page. */
  beforeId: Id | null;
}

export interface SelectionCount {
  count: number;
  isCapped: boolean;
  /** Time at which counting stopped early, in milliseconds since the epoch; null if it did not stop early. */
  searchedTo: number | null;
}

/** For operations on all events that a filtered list shows. */
export abstract class EventSelections {
  /** Null if no event can match. Throws 400 for invalid filters. */
  abstract resolve(tenant: Tenant, query: SelectionQuery): Promise<EventSelection | null>;

  /** Counts like the list. Throws 400 for invalid filters. */
  abstract count(tenant: Tenant, query: SelectionQuery): Promise<SelectionCount>;

  /** A page scans a bounded number of rows, so it can be empty while more events follow. */
  abstract page(environmentId: number, selection: EventSelection, limit: number): Promise<SelectedEvents>;
}
