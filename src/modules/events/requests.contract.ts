import type { Disposition } from '#engine/inbound/disposition.js';
import type { Id } from '#kernel/ids.js';

/** A raw request in a list. */
export interface RequestRow {
  id: Id;
  method: string;
  path: string;
  /** `routed`, or why it goes nowhere; `duplicate` of an earlier one. */
  status: 'routed' | 'duplicate' | Disposition;
  verification: 'verified' | 'failed' | 'none';
  sizeBytes: number;
  dedupeId: string | null;
  note: string | null;
  replayOf: Id | null;
  /** The event of the request that this one repeats, which made none of its own. */
  duplicateOf: Id | null;
  /** When a repetition of it went where its endpoint's routes lead, after it had been set aside. */
  releasedAt: Date | null;
}

/** Which raw requests a list shows. */
export interface RequestFilter {
  fromId: Id;
  beforeId: Id;
  status?: RequestRow['status'];
  method?: string;
}

/** A raw request as it came. */
export interface RequestDetail extends RequestRow {
  /** When it was erased: what is left are the names of its headers. */
  erasedAt: Date | null;
  endpointId: Id;
  url: string;
  query: string;
  headers: [string, string][];
  /** Names of the headers that authenticated when it came, whatever the endpoint's settings are today. */
  sealedHeaders: ReadonlySet<string>;
  body: Buffer;
  ip: string;
  /** What the provider was answered, as receiving keeps it; null when nobody was, or it was not noted. */
  answer: Record<string, unknown> | null;
}

/** Raw requests behind received events; a request has the id of its event. */
export abstract class Requests {
  /** Of one endpoint, newest first. */
  abstract page(environmentId: number, endpointId: Id, filter: RequestFilter, limit: number): Promise<RequestRow[]>;

  /** Null when there is none in this environment. */
  abstract find(environmentId: number, id: Id): Promise<RequestDetail | null>;
}
