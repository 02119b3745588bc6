import type { Id } from '#kernel/ids.js';

export interface SelectionQuery {
  status?: string | string[];
  endpoint?: string;
  destination?: string;
  application?: string;
  event_type?: string;
  message_id?: string;
  direction?: 'outbound' | 'inbound';
  error?: string;
  response_status?: number;
  dedupe_id?: string;
  q?: string;
  since?: string;
  until?: string;
}

/** Resolved filters of a list. They can be stored as JSON and passed back unchanged. */
export interface EventSelection {
  /** Range of event ids. `beforeId` is exclusive. */
  fromId: Id;
  beforeId: Id;
  /**
   * Selected target. `destinationId` is a destination or an ad-hoc URL. `targetId` is an endpoint with its own URL.
   * `endpointId` is any other endpoint.
   */
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
  /**
   * Set if the count stopped at the scan limit: all events since this time (in milliseconds since the epoch) were
   * counted.
   */
  searchedTo: number | null;
}
