import type { Disposition } from '#engine/inbound/disposition.js';
import type { Id } from '#kernel/ids.js';

export interface RequestRow {
  id: Id;
  method: string;
  path: string;
  /** `routed`, `duplicate` for a repeat of an earlier request, or the reason why the request was not delivered. */
  status: 'routed' | 'duplicate' | Disposition;
  verification: 'verified' | 'failed' | 'none';
  sizeBytes: number;
  dedupeId: string | null;
  note: string | null;
  replayOf: Id | null;
  /** For a duplicate, the event of the earlier request. A duplicate does not create an event. */
  duplicateOf: Id | null;
  /** Time at which a quarantined or parked request was processed again and routed. */
  releasedAt: Date | null;
}

export interface RequestFilter {
  fromId: Id;
  beforeId: Id;
  status?: RequestRow['status'];
  method?: string;
}

export interface RequestDetail extends RequestRow {
  /** Time at which the request was erased. Only the names of its headers remain. */
  erasedAt: Date | null;
  endpointId: Id;
  url: string;
  query: string;
  headers: [string, string][];
  /** Headers that authenticated the request when it was received, regardless of the endpoint's current settings. */
  sealedHeaders: ReadonlySet<string>;
  body: Buffer;
  ip: string;
  /** The response to the provider, in the receiving module's format; null if none was sent or recorded. */
  answer: Record<string, unknown> | null;
}
