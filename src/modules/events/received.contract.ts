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
  /** True if the event is never replayed: it is quarantined, parked, dropped by the transform, or without a payload. */
  isExcluded: boolean;
  inStatus: boolean;
  /** Received request with the first 128 KB of its body, to evaluate filters. Null if it was not requested. */
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
