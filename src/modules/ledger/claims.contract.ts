import type { StoredHeaders } from '#kernel/crypto/sealed-headers.js';
import type { Id } from '#kernel/ids.js';

/** Which delivery of which event. */
export interface DeliveryKey {
  environmentId: number;
  eventId: Id;
  /** Counts an event's deliveries from 0; a replay is a new one. */
  ordinal: number;
}

/** Sent through the API, or received from a provider. */
export type Direction = 'outbound' | 'inbound';

/** A delivery that a worker holds: all that an attempt needs, and the fence that its result is checked against. */
export interface ClaimedDelivery extends DeliveryKey {
  claimedBy: Id;
  direction: Direction;
  /** The message of a fan-out that the event belongs to; null for any other event. */
  messageId: Id | null;
  targetId: Id;
  /** The address, when the target is an ad-hoc URL. */
  url: string | null;
  eventType: string;
  /** Of its message, or of the event; sensitive ones may be sealed. */
  headers: StoredHeaders | null;
  traceparent: string | null;
  /** Null when the event is past its retention, or its payload was erased. */
  payload: string | Buffer | null;
  /** Why it ends without an attempt: cancelled, or its payload was erased. */
  cancelReason?: 'cancelled' | 'erased' | null;
  /** Attempts made so far, and how many of them count against the retry policy. */
  attempts: number;
  attemptsUsed: number;
  firstAttemptAtMs: number | null;
  replayed: boolean;
}

/** A target of deliveries, and the environment that it is in. */
export interface TargetKey {
  environmentId: number;
  targetId: Id;
}

/** Which deliveries are due, and who holds them. A worker may make attempts at what it claimed, and at nothing else. */
export abstract class Claims {
  /** Calls `isDue` when deliveries are due, and `isParked` when some wait behind a gate: at once as far as this process knows, and within a second. */
  abstract attend(isDue: () => void, isParked: () => void): void;

  /** Claims up to `limit` deliveries that are due, oldest first. */
  abstract due(claimant: Id, limit: number): Promise<ClaimedDelivery[]>;

  /** Claims those of `keys` that are due and held by nobody. */
  abstract these(claimant: Id, keys: readonly DeliveryKey[]): Promise<ClaimedDelivery[]>;

  /** Claims up to `limit` deliveries that wait behind a target's gate, the longest waiting first. */
  abstract parked(claimant: Id, environmentId: number, targetId: Id, limit: number): Promise<ClaimedDelivery[]>;

  /** Gives claims back unused: due at once, or parked behind their target. Waits out an absent storage. */
  abstract release(deliveries: readonly ClaimedDelivery[], parked: boolean): Promise<void>;

  /** Targets with deliveries behind their gate, at most a thousand. */
  abstract parkedTargets(): Promise<TargetKey[]>;

  /** Claims up to `limit` deliveries that are due in other environments than these, oldest first. */
  abstract dueBeside(claimant: Id, environmentIds: readonly number[], limit: number): Promise<ClaimedDelivery[]>;

  /** Destinations with deliveries that nobody holds, whatever they wait for: at most a thousand that come after the given one, in order. */
  abstract waitingDestinations(after: TargetKey | null): Promise<{ targets: TargetKey[]; last: TargetKey | null }>;

  /** Puts everything that is due for a target behind its gate. */
  abstract park(environmentId: number, targetId: Id): Promise<void>;

  /** Ends every waiting delivery of a target that no retry can help; returns how many. */
  abstract failWaiting(environmentId: number, targetId: Id, reason: string): Promise<number>;
}
