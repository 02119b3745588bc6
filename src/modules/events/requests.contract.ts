import type { Disposition } from '#engine/inbound/disposition.js';
import type { Id } from '#kernel/ids.js';

export interface RequestRow {
  id: Id;
  method: string;
  path: string;
  /** `routed`; `duplicate` of an earlier request; or the reason why the request was not delivered. */
  status: 'routed' | 'duplicate' | Disposition;
  verification: 'verified' | 'failed' | 'none';
  sizeBytes: number;
  dedupeId: string | null;
  note: string | null;
  replayOf: Id | null;
  /** For a duplicate: the event of the request that it repeats. A duplicate creates no event. */
  duplicateOf: Id | null;
  /** That is, when it was processed again and routed. */
  releasedAt: Date | null;
}

export interface RequestFilter {
  fromId: Id;
  beforeId: Id;
  status?: RequestRow['status'];
  method?: string;
}

export interface RequestDetail extends RequestRow {
  /** When the request was erased. Only the names of its headers are left. */
  erasedAt: Date | null;
  endpointId: Id;
  url: string;
  query: string;
  headers: [string, string][];
  /** Headers that authenticated the request on receipt, regardless of the endpoint's current settings. */
  sealedHeaders: ReadonlySet<string>;
  body: Buffer;
  ip: string;
  /** The response that the provider received, in receiving's own format; null if no response was sent or recorded. */
  answer: Record<string, unknown> | null;
}

/** Raw requests of received events. A request has the same id as its event. */
export abstract class Requests {
  /** Newest first. */
  abstract page(environmentId: number, endpointId: Id, filter: RequestFilter, limit: number): Promise<RequestRow[]>;

  /** Null if there is none in this environment. */
  abstract find(environmentId: number, id: Id): Promise<RequestDetail | null>;
}
