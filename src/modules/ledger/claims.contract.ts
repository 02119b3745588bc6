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
  /** Headers of the message or the event. Sensitive ones may be sealed. */
  headers: StoredHeaders | null;
  traceparent: string | null;
  /** Null if the event is past its retention or its payload was erased. */
  payload: string | Buffer | null;
  cancelReason?: 'cancelled' | 'erased' | null;
  /** `attempts` is the number of attempts made so far, `attemptsUsed` the number that the retry policy counts. */
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
  /** Calls `isDue` for due deliveries, `isParked` for gated ones. Other processes' deliveries take up to a second. */
  abstract attend(isDue: () => void, isParked: () => void): void;

  /** Claims due deliveries, oldest first. */
  abstract due(claimant: Id, limit: number): Promise<ClaimedDelivery[]>;

  /** Claims those of the given deliveries that are due and unclaimed. */
  abstract these(claimant: Id, keys: readonly DeliveryKey[]): Promise<ClaimedDelivery[]>;

  /** Claims the target's parked deliveries, longest waiting first. */
  abstract parked(claimant: Id, environmentId: number, targetId: Id, limit: number): Promise<ClaimedDelivery[]>;

  /** Makes claimed deliveries due immediately, or parks them. Retries until storage is available. */
  abstract release(deliveries: readonly ClaimedDelivery[], parked: boolean): Promise<void>;

  /** Returns at most 1,000 targets with parked deliveries. */
  abstract parkedTargets(): Promise<TargetKey[]>;

  /** Claims up to `limit` due deliveries of environments that are not in the list, oldest first. */
  abstract dueBeside(claimant: Id, environmentIds: readonly number[], limit: number): Promise<ClaimedDelivery[]>;

  /** Destinations with unclaimed deliveries in any state, in order: at most 1,000, starting after the given one. */
  abstract waitingDestinations(after: TargetKey | null): Promise<{ targets: TargetKey[]; last: TargetKey | null }>;

  abstract park(environmentId: number, targetId: Id): Promise<void>;

  /** Ends every waiting delivery of a target for which retries cannot help. Returns how many were ended. */
  abstract failWaiting(environmentId: number, targetId: Id, reason: string): Promise<number>;
}
