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

/** The data that an attempt needs, and the fencing token that its result is checked against. */
export interface ClaimedDelivery extends DeliveryKey {
  claimedBy: Id;
  direction: Direction;
  /** The message of the fan-out that the event belongs to; null for other events. */
  messageId: Id | null;
  targetId: Id;
  /** The address, if the target is an ad-hoc URL. */
  url: string | null;
  eventType: string;
  /** Headers of the message or the event. Sensitive ones may be sealed. */
  headers: StoredHeaders | null;
  traceparent: string | null;
  /** Null if the event is past its retention or its payload was erased. */
  payload: string | Buffer | null;
  cancelReason?: 'cancelled' | 'erased' | null;
  /** Number of attempts made so far, and the number that counts against the retry policy. */
  attempts: number;
  attemptsUsed: number;
  firstAttemptAtMs: number | null;
  replayed: boolean;
}

export interface TargetKey {
  environmentId: number;
  targetId: Id;
}

/** A worker may attempt only the deliveries that it has claimed. */
export abstract class Claims {
  /** Calls `isDue` for due deliveries and `isParked` for gated ones: at once in this process, else within a second. */
  abstract attend(isDue: () => void, isParked: () => void): void;

  /** Oldest first. */
  abstract due(claimant: Id, limit: number): Promise<ClaimedDelivery[]>;

  /** Only those that are due and unclaimed. */
  abstract these(claimant: Id, keys: readonly DeliveryKey[]): Promise<ClaimedDelivery[]>;

  /** Longest waiting first. */
  abstract parked(claimant: Id, environmentId: number, targetId: Id, limit: number): Promise<ClaimedDelivery[]>;

  /** The deliveries are due immediately, or parked behind their gate. Retries until storage is available. */
  abstract release(deliveries: readonly ClaimedDelivery[], parked: boolean): Promise<void>;

  /** At most 1,000. */
  abstract parkedTargets(): Promise<TargetKey[]>;

  /** Claims up to `limit` due deliveries of environments that are not in the list, oldest first. */
  abstract dueBeside(claimant: Id, environmentIds: readonly number[], limit: number): Promise<ClaimedDelivery[]>;

  /** Destinations with unclaimed deliveries, waiting for anything, in order, at most 1,000 after the given one. */
  abstract waitingDestinations(after: TargetKey | null): Promise<{ targets: TargetKey[]; last: TargetKey | null }>;

  abstract park(environmentId: number, targetId: Id): Promise<void>;

  /** Ends every waiting delivery of a target for which retries cannot help. Returns how many were ended. */
  abstract failWaiting(environmentId: number, targetId: Id, reason: string): Promise<number>;
}
