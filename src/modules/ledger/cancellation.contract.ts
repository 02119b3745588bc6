import type { Id } from '#kernel/ids.js';
import type { DeliveryKey, TargetKey } from './claims.contract.js';

/** Why a delivery ended: it was cancelled through the API, or its payload was erased. */
export type CancelReason = 'cancelled' | 'erased';

export interface WaitingSelection {
  environmentId: number;
  targetId: Id;
  /** Restricts the selection to deliveries of this endpoint; null for all deliveries of the target. */
  endpointId: Id | null;
  /** Restricts the selection to events of exactly this type; null for any type. */
  eventType: string | null;
  /** Exclusive upper bound of event ids; null for all events accepted before the call. Later events are excluded. */
  beforeId: Id | null;
}

/**
 * Unclaimed deliveries end immediately. Claimed ones get a durable mark: an attempt in flight finishes and is not
 * retried, and all others end without an attempt.
 */
export abstract class Cancellations {
  /** Returns how many deliveries were ended or marked. */
  abstract ofTarget(selection: WaitingSelection): Promise<number>;

  /** For one target or for any. Returns how many deliveries were ended or marked. */
  abstract ofEvents(
    environmentId: number,
    eventIds: readonly Id[],
    reason: CancelReason,
    targetId?: Id,
  ): Promise<number>;

  /** Returns the reason to end a claimed delivery without an attempt, or null if its attempt can start. */
  abstract reasonOf(delivery: DeliveryKey): Promise<CancelReason | null>;

  /** Targets of deliveries that are both marked and claimed, in order, at most 1,000 after the given one. */
  abstract heldTargets(after: TargetKey | null): Promise<TargetKey[]>;
}
