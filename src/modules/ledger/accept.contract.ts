import type { Disposition } from '#engine/inbound/disposition.js';
import type { RequestLine } from '#engine/inbound/forwarded-url.js';
import type { StoredHeader } from '#kernel/crypto/sealed-headers.js';
import type { BoundStatement } from '#kernel/database/database.js';
import type { KeptAnswer } from '#kernel/idempotency.js';
import type { Id } from '#kernel/ids.js';

export interface Caller {
  isGone(): boolean;
}

/** The data that the local scheduler needs about a new delivery. */
export interface Arrival {
  environmentId: number;
  /** The fan-out message whose payload this delivery shares with other deliveries. */
  messageId?: Id;
  targetId: Id;
  /** The exact text of the body, or its bytes if it is not text. */
  payload: string | Buffer;
  /** True for a pull target: the delivery waits until a consumer fetches it. */
  pulled: boolean;
  /** The target's rate limit across all workers; null for none. */
  ratePerSecond: number | null;
  /** Maximum number of attempts that one worker may have in flight at the target; null for no limit. */
  concurrency: number | null;
}

/** Inserts the rows of another context in the commit of their events, such as emails. */
export interface AccompanyingInserts {
  /** Returns the statements that insert the rows of a group of events. */
  insertsOf(rows: readonly unknown[]): BoundStatement[];
}

/** A row to insert in the commit of its event. */
export interface AccompanyingRow {
  inserts: AccompanyingInserts;
  row: unknown;
  /** Size of the row in bytes. */
  bytes: number;
}

/** An event to send, with its only delivery. */
export interface NewEvent extends Arrival {
  id: Id;
  /** Day on which retention ends, in days since the epoch. */
  expiresOnDay: number;
  /** The address, if the target is an ad-hoc URL instead of a destination. */
  url: string | null;
  eventType: string;
  /** Headers to forward, with names in lower case. */
  headers: Record<string, string> | null;
  traceparent: string | null;
  /** The exact text of the payload. */
  payload: string;
  payloadBytes: number;
  idempotency: KeptAnswer;
  /**
   * Absent if only the event is stored. If the idempotency key is already in use, the row is stored without the event.
   */
  row?: AccompanyingRow;
  /** Caller whose request may wait while this process has no capacity. Absent if no client waits for the response. */
  caller?: Caller | null;
}

export const FAN_OUT_MAX = 1_000;

export interface FannedOut extends Arrival {
  /** Id of the event. The ids of a message's events directly follow the message's id, in order (`Ids.block`). */
  eventId: Id;
  endpointId: Id;
  /** True if the endpoint is disabled. The event fails immediately, but stays visible and can be replayed. */
  refused: boolean;
  /**
   * True if the filter timed out, so that it is unknown whether the endpoint should get the event. The event then fails
   * without an attempt.
   */
  undecided?: boolean;
}

export interface NewMessage {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
  applicationId: Id;
  eventType: string;
  channels: readonly string[];
  headers: Record<string, string> | null;
  traceparent: string | null;
  /** The exact text of the payload. It is stored once for all events. */
  payload: string;
  payloadBytes: number;
  /**
   * At most 1,000 events. Empty if no endpoint subscribes to the message. The message then becomes one event with the
   * status `ignored`.
   */
  events: readonly FannedOut[];
  idempotency: KeptAnswer;
  caller?: Caller | null;
}

export interface NewRequest {
  method: string;
  /** The complete URL, including the endpoint's own path. */
  url: string;
  /** The path after the endpoint's path, and the query without its question mark. */
  path: string;
  query: string;
  /** Headers in their original order, with repetitions and lower-case names. The provider's secrets are encrypted. */
  headers: readonly StoredHeader[];
  /** The body as it was received; null if the event's payload has the same bytes. */
  body: Buffer | null;
  sizeBytes: number;
  ip: string;
  verification: 'verified' | 'failed' | 'none';
  /** The provider's id of its delivery; null if the provider sends no id. */
  dedupeId: string | null;
  /** A sentence about the processing of the request, for example about a failed transform. */
  note: string | null;
  /** Console output of the transform, as the JSON of `CodeLogs`; null if there is none. */
  logs: string | null;
  replayOf: Id | null;
  /** The provider's response, as JSON in the format of the receiving module; null if no response was sent. */
  answer: string | null;
}

/** A received event with one delivery for each matching route. */
export interface ReceivedEvent {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
  endpointId: Id;
  endpointPath: string;
  eventType: string;
  /** Headers of the deliveries, including the content type, with names in lower case. */
  headers: Record<string, string>;
  /** The received method, path and query. The query lacks the parameters that authenticate the provider. */
  requestLine: RequestLine;
  traceparent: string | null;
  /** The body to deliver: text, or bytes if it is not text. */
  payload: string | Buffer;
  payloadBytes: number;
  /** `dropped` if the endpoint's transform dropped the event. It is shown as `ignored` and never replayed. */
  disposition: Disposition | 'dropped' | null;
  /** Empty if `disposition` is set, because the event is then not delivered. */
  deliveries: readonly Arrival[];
  request: NewRequest;
  /**
   * Idempotency key, and the answer to store with it. The key comes from the API call that tests or replays an event.
   * For a request from a provider, it is the id that the provider sent.
   */
  idempotency: KeptAnswer;
  /** Lifetime of the idempotency key. Null for the default. */
  keyTtlMs: number | null;
}
