import type { Disposition } from '#engine/inbound/disposition.js';
import type { StoredHeader } from '#kernel/crypto/sealed-headers.js';
import type { KeptAnswer } from '#kernel/idempotency.js';
import type { Id } from '#kernel/ids.js';

/** Who waits for the answer. */
export interface Caller {
  /** Nobody would hear it any more. */
  isGone(): boolean;
}

/** What a lane must know of a delivery that is about to be accepted. */
export interface Arrival {
  environmentId: number;
  /** The message whose payload it shares with others. */
  messageId?: Id;
  targetId: Id;
  /** The body's very characters, or its bytes where it is no text. */
  payload: string | Buffer;
  /** True for a target whose deliveries wait to be fetched. */
  pulled: boolean;
  /** The target's limit over all workers, or null. */
  ratePerSecond: number | null;
  /** Most attempts that one worker may have under way at the target at once, or null. */
  concurrency: number | null;
}

/** An event that is about to be accepted, with its one delivery. */
export interface NewEvent extends Arrival {
  id: Id;
  /** The day on which retention ends, in days since the epoch. */
  expiresOnDay: number;
  /** The address, when the target is not a destination but an ad-hoc URL. */
  url: string | null;
  eventType: string;
  /** Headers to forward, lower-case names. */
  headers: Record<string, string> | null;
  traceparent: string | null;
  /** The payload's very characters. */
  payload: string;
  payloadBytes: number;
  /** The idempotency key of the request, and the answer that is kept for it. */
  idempotency: KeptAnswer;
  /** Accepting may have him wait while this process has no time for more of his organization; left out where nobody waits. */
  caller?: Caller | null;
}

/** Endpoints that one message goes to, at most. */
export const FAN_OUT_MAX = 1_000;

/** One event of a fan-out. */
export interface FannedOut extends Arrival {
  /** Behind the message's id, in order and without a gap: see `Ids.block`. */
  eventId: Id;
  /** The application's endpoint that subscribes. */
  endpointId: Id;
  /** True for one that is disabled: the event fails at once, where everybody can see it and it can be sent again. */
  refused: boolean;
  /** True where the endpoint's filter took too long, so that nobody knows whether it is meant: the event fails at once too. */
  undecided?: boolean;
}

/** A message that is about to be accepted for every endpoint that subscribes to it. */
export interface NewMessage {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
  applicationId: Id;
  eventType: string;
  channels: readonly string[];
  headers: Record<string, string> | null;
  traceparent: string | null;
  /** The payload's very characters, stored once. */
  payload: string;
  payloadBytes: number;
  /** None when nothing subscribes: the message is kept as one event that says so. At most a thousand. */
  events: readonly FannedOut[];
  idempotency: KeptAnswer;
  /** As of an event. */
  caller?: Caller | null;
}

/** The request behind a received event, as it came. */
export interface NewRequest {
  method: string;
  /** The whole URL, the endpoint's own included. */
  url: string;
  /** What came behind the endpoint's path, and the query without its question mark. */
  path: string;
  query: string;
  /** Names in lower case, in their order, repeated ones too; what is a secret of the provider is sealed. */
  headers: readonly StoredHeader[];
  /** The body as it came; null when the event's payload is the same bytes. */
  body: Buffer | null;
  sizeBytes: number;
  ip: string;
  verification: 'verified' | 'failed' | 'none';
  /** The provider's own id of its delivery, where it sends one. */
  dedupeId: string | null;
  /** A sentence on what happened to it, such as a transform that failed open. */
  note: string | null;
  /** The request that this one repeats. */
  replayOf: Id | null;
  /** What the provider was answered, as JSON that receiving reads; null when nobody was. */
  answer: string | null;
}

/** An event that came in through an endpoint and is about to be accepted, with one delivery for each matching route. */
export interface ReceivedEvent {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
  endpointId: Id;
  endpointPath: string;
  eventType: string;
  /** Headers that its deliveries carry, lower-case names, the content type among them. */
  headers: Record<string, string>;
  traceparent: string | null;
  /** The body as deliveries send it: text, or bytes where it is none. */
  payload: string | Buffer;
  payloadBytes: number;
  /** `dropped` by the endpoint's transform: shown as `ignored`, and never sent again. */
  disposition: Disposition | 'dropped' | null;
  /** None when there is a disposition. */
  deliveries: readonly Arrival[];
  request: NewRequest;
  /** Of the call that made the event, a test or a replay; of what a provider sent to an endpoint that drops repeats, made of the provider's id. */
  idempotency: KeptAnswer;
  /** How long that is kept; null for as long as the keys of calls are. */
  keyTtlMs: number | null;
}

/** Accepting: what was let in is committed, and goes its way by itself. */
export abstract class Ledger {
  /**
   * Resolves once the event is committed in PostgreSQL. Throws AlreadyAnswered or 409 for a used idempotency key,
   * and 503 when storage is away, in which case nothing was accepted or the same key repeats the answer.
   */
  abstract accept(event: NewEvent): Promise<void>;

  /** Within the caller's transaction, without an idempotency key: accepted if and only if that commits. */
  abstract acceptWithin(event: NewEvent): Promise<void>;

  /** The same for a fan-out: the message and all its events in one commit, or nothing. */
  abstract fanOut(message: NewMessage): Promise<void>;

  /** The same for what an endpoint received: the event, its request and its deliveries in one commit. */
  abstract receive(event: ReceivedEvent): Promise<void>;
}
