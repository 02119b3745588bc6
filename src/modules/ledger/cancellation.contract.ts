import type { Id } from '#kernel/ids.js';
import type { DeliveryKey, TargetKey } from './claims.contract.js';

/** Reason that ends a waiting delivery early: it was cancelled through the API, or its payload was erased. */
export type CancelReason = 'cancelled' | 'erased';

/** Selects waiting deliveries of a target to end. */
export interface WaitingSelection {
  environmentId: number;
  targetId: Id;
  /** Only deliveries that belong to this endpoint; null for all of the target. */
  endpointId: Id | null;
  /** Only events of exactly this type; null for any type. */
  eventType: string | null;
  /**
   * Only events before this id; null for all events accepted before the call. Events accepted later are never included.
   */
  beforeId: Id | null;
}

/**
 * Ends waiting deliveries early. Unclaimed deliveries end immediately. Claimed deliveries get a durable mark: an
 * attempt in flight finishes and is not retried, and all others end without an attempt.
 */
export abstract class Cancellations {
  /** Ends a target's waiting deliveries. Returns how many were ended or marked. */
  abstract ofTarget(selection: WaitingSelection): Promise<number>;

  /** Ends the waiting deliveries of some events, for one target or for any. Returns how many were ended or marked. */
  abstract ofEvents(
    environmentId: number,
    eventIds: readonly Id[],
    reason: CancelReason,
    targetId?: Id,
  ): Promise<number>;

  /** Returns why a claimed delivery must not start any more, or null. */
  abstract reasonOf(delivery: DeliveryKey): Promise<CancelReason | null>;

  /**
   * Returns the targets of deliveries that are both marked and claimed, in order, at most 1,000 after the given one.
   */
  abstract heldTargets(after: TargetKey | null): Promise<TargetKey[]>;
}
