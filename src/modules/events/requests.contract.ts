import type { Disposition } from '#engine/inbound/disposition.js';
import type { Id } from '#kernel/ids.js';

/** A raw request in a list. */
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
  /** When a quarantined or parked request was released, that is, processed again and routed. */
  releasedAt: Date | null;
}

/** Filters of the request list. */
export interface RequestFilter {
  fromId: Id;
  beforeId: Id;
  status?: RequestRow['status'];
  method?: string;
}

/** A raw request as it was received. */
export interface RequestDetail extends RequestRow {
  /** When the request was erased. Only the names of its headers are left. */
  erasedAt: Date | null;
  endpointId: Id;
  url: string;
  query: string;
  headers: [string, string][];
  /**
   * Names of the headers that authenticated the request when it was received, regardless of the endpoint's current
   * settings.
   */
  sealedHeaders: ReadonlySet<string>;
  body: Buffer;
  ip: string;
  /** The response that the provider received, in receiving's own format; null if no response was sent or recorded. */
  answer: Record<string, unknown> | null;
}

/** Raw requests of received events. A request has the same id as its event. */
export abstract class Requests {
  /** Lists the requests of one endpoint, newest first. */
  abstract page(environmentId: number, endpointId: Id, filter: RequestFilter, limit: number): Promise<RequestRow[]>;

  /** Returns a request, or null if there is none in this environment. */
  abstract find(environmentId: number, id: Id): Promise<RequestDetail | null>;
}
