import type { Id } from '#kernel/ids.js';

/** Received events of one endpoint, as a range of ids. The end of the range is exclusive. */
export interface ReceivedRange {
  environmentId: number;
  endpointId: Id;
  beforeId: Id;
  fromId: Id;
  /** State of the events; null for any state. */
  status: string | null;
}

export interface ReceivedRow {
  id: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  /** True if the event is never replayed: quarantined, parked, dropped by the transform, or no longer has a payload. */
  isExcluded: boolean;
  inStatus: boolean;
  /** Request for evaluating filters, with the first 128 KB of the event's body; null if it was not requested. */
  request: {
    method: string;
    url: string;
    path: string;
    query: string;
    headers: [string, string][];
    ip: string;
    verification: 'verified' | 'failed' | 'none';
    body: Buffer;
  } | null;
}

export abstract class ReceivedEvents {
  /** Returns events of any state, newest first. `inStatus` marks those in the requested state. */
  abstract page(range: ReceivedRange, limit: number, hasRequests: boolean): Promise<ReceivedRow[]>;

  /** Counts events of the range, and those of them that are never replayed (`ReceivedRow.isExcluded`), up to `max`. */
  abstract count(range: ReceivedRange, max: number): Promise<{ scanned: number; excluded: number }>;

  /** Counts the environment's events from this id on, including sent events, up to `max`. */
  abstract acceptedSince(environmentId: number, id: Id, max: number): Promise<number>;

  /** Counts deliveries waiting to be claimed, for events between two ids (both inclusive), up to `max`. */
  abstract waiting(environmentId: number, fromId: Id, toId: Id, max: number): Promise<number>;
}
