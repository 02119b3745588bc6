import type { CodeLogs } from '#engine/code-logs.js';
import type { Disposition } from '#engine/inbound/disposition.js';
import type { CredentialNames } from '#engine/inbound/secret-headers.js';
import type { Id } from '#kernel/ids.js';

export interface RequestRow {
  id: Id;
  method: string;
  path: string;
  /**
   * `routed`, `duplicate` (of an earlier request), `too_large` (stored without its body), or the reason why the request
   * was not delivered.
   */
  status: 'routed' | 'duplicate' | 'too_large' | Disposition;
  verification: 'verified' | 'failed' | 'none';
  sizeBytes: number;
  dedupeId: string | null;
  note: string | null;
  replayOf: Id | null;
  /** For a duplicate, the event of the earlier request. A duplicate does not create an event. */
  duplicateOf: Id | null;
  /** Time at which a quarantined, parked or dropped request was processed again and routed. */
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
  /** Names of all headers whose stored value is encrypted, written with `-` instead of `_`. */
  sealedHeaders: ReadonlySet<string>;
  /**
   * Headers and parameters that contain credentials, according to the endpoint's verification scheme at the time of the
   * request.
   */
  credentials: CredentialNames;
  body: Buffer;
  ip: string;
  /** The response to the provider, in the receiving module's format; null if none was sent or recorded. */
  answer: Record<string, unknown> | null;
  /** Output of the transform's console. */
  logs: CodeLogs | null;
}
