import type { RequestLine } from '#engine/inbound/forwarded-url.js';
import type { StoredHeaders } from '#kernel/crypto/sealed-headers.js';
import type { Id } from '#kernel/ids.js';

export interface DeliveryKey {
  environmentId: number;
  eventId: Id;
  /** Position among the event's deliveries, starting at 0. A replay creates a new delivery. */
  ordinal: number;
}

/** `outbound` for events sent through the API, `inbound` for events received from a provider. */
export type Direction = 'outbound' | 'inbound';

/** The data for an attempt, and the fencing token that is checked when the result is recorded. */
export interface ClaimedDelivery extends DeliveryKey {
  claimedBy: Id;
  direction: Direction;
  /** The message of the fan-out that the event belongs to; null for other events. */
  messageId: Id | null;
  targetId: Id;
  /** The address, if the target is an ad-hoc URL. */
  url: string | null;
  eventType: string;
  /** Headers of the message or the event. Sensitive headers may be encrypted. */
  headers: StoredHeaders | null;
  /** Received method, path and query. Null for a sent event, and for an event that an older version received. */
  requestLine: RequestLine | null;
  traceparent: string | null;
  /** Null if the event is past its retention or its payload was erased. */
  payload: string | Buffer | null;
  cancelReason?: 'cancelled' | 'erased' | null;
  /**
   * `attempts` counts all attempts made so far. `attemptsUsed` omits failed probes of an open circuit, which do not use
   * up retries.
   */
  attempts: number;
  attemptsUsed: number;
  firstAttemptAtMs: number | null;
  replayed: boolean;
}

export interface TargetKey {
  environmentId: number;
  targetId: Id;
}
