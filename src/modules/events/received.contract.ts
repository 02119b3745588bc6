import type { Id } from '#kernel/ids.js';

/** Received events of one endpoint, as a range of ids. The end of the range is exclusive. */
export interface ReceivedRange {
  environmentId: number;
  endpointId: Id;
  beforeId: Id;
  fromId: Id;
  /** Only events in this state; null for any state. */
  status: string | null;
}

export interface ReceivedRow {
  id: Id;
  /** Day of the event's partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  /** Never replayed: quarantined, parked, dropped by the transform, or without a payload by now. */
  isExcluded: boolean;
  inStatus: boolean;
  /** The request that filters evaluate, with the event's body (its first 128 KB); null if it was not requested. */
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

  /** Counts the events of the range, and those that are never replayed (`ReceivedRow.isExcluded`), up to `max`. */
  abstract count(range: ReceivedRange, max: number): Promise<{ scanned: number; excluded: number }>;

  /** Counts the events of an environment, including sent ones, from this id on, up to `max`. */
  abstract acceptedSince(environmentId: number, id: Id, max: number): Promise<number>;

  /** Counts deliveries that are waiting to be claimed, for events between two ids (both inclusive), up to `max`. */
  abstract waiting(environmentId: number, fromId: Id, toId: Id, max: number): Promise<number>;
}
