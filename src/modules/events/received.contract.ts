import type { Id } from '#kernel/ids.js';

/** Which received events to look at: those of one endpoint, from one id to before another. */
export interface ReceivedRange {
  environmentId: number;
  endpointId: Id;
  beforeId: Id;
  fromId: Id;
  /** Only events in this state, or any. */
  status: string | null;
}

/** A received event as a replay looks at it. */
export interface ReceivedRow {
  id: Id;
  /** The day of its partition, as `YYYY-MM-DD`. */
  expiresOn: string;
  /** True for an event that is never sent again: quarantined, parked, dropped by the transform, or without a payload any more. */
  isExcluded: boolean;
  /** Whether it is in the state that was asked for. */
  inStatus: boolean;
  /** What filters see: the request with the body that the event has (its first 128 KB); null when it was not asked for. */
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

/** Received events, for sending ranges of them again. */
export abstract class ReceivedEvents {
  /** Newest first, whatever their state: each says whether it is in the one that was asked for. */
  abstract page(range: ReceivedRange, limit: number, hasRequests: boolean): Promise<ReceivedRow[]>;

  /** All of the range, and how many of them are never sent again, as `ReceivedRow.isExcluded` says; counts up to `max`. */
  abstract count(range: ReceivedRange, max: number): Promise<{ scanned: number; excluded: number }>;

  /** How many events of an environment, sent ones too, have this id or a later one, up to `max`. */
  abstract acceptedSince(environmentId: number, id: Id, max: number): Promise<number>;

  /** Deliveries of events between two ids (both included) that wait to be claimed, up to `max`. */
  abstract waiting(environmentId: number, fromId: Id, toId: Id, max: number): Promise<number>;
}
