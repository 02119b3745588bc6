import type { Id } from '#kernel/ids.js';
import type { DeliveryKey, TargetKey } from './claims.contract.js';

/** Cancelled through the API, or its payload was erased. */
export type CancelReason = 'cancelled' | 'erased';

export interface WaitingSelection {
  environmentId: number;
  targetId: Id;
  /** Only deliveries that belong to this endpoint; null for all of the target. */
  endpointId: Id | null;
  /** Only events of exactly this type; null for any type. */
  eventType: string | null;
  /** Null for all events accepted before the call. Events accepted later are never included. */
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

  /** Null if the claimed delivery may still start. */
  abstract reasonOf(delivery: DeliveryKey): Promise<CancelReason | null>;

  /** Targets of deliveries that are both marked and claimed, in order, at most 1,000 after the given one. */
  abstract heldTargets(after: TargetKey | null): Promise<TargetKey[]>;
}
