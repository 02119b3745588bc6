import type { Id } from '#kernel/ids.js';
import type { DeliveryKey, TargetKey } from './claims.contract.js';

/** Why a delivery that waited has to end: its target's owner gave up on it, or its payload is gone. */
export type CancelReason = 'cancelled' | 'erased';

/** Which waiting deliveries of a target to end. */
export interface WaitingSelection {
  environmentId: number;
  targetId: Id;
  /** Only those that belong to this endpoint; null for all of the target. */
  endpointId: Id | null;
  /** Only of events of exactly this type, or of any. */
  eventType: string | null;
  /** Only of events before this id; null for all. What is accepted later than the call is never among them. */
  beforeId: Id | null;
}

/**
 * Ends what waits, before its time. What nobody holds ends at once. What a worker holds is marked, durably: an attempt
 * that is under way ends as it ends and is not retried, anything else ends without one.
 */
export abstract class Cancellations {
  /** Returns how many deliveries were ended or marked. */
  abstract ofTarget(selection: WaitingSelection): Promise<number>;

  /** The same for what waits of some events, for one target or for any. */
  abstract ofEvents(
    environmentId: number,
    eventIds: readonly Id[],
    reason: CancelReason,
    targetId?: Id,
  ): Promise<number>;

  /** Why a delivery that a worker holds must not start any more, or null. */
  abstract reasonOf(delivery: DeliveryKey): Promise<CancelReason | null>;

  /** Targets of deliveries that are marked and held: at most a thousand that come after the given one, in order. */
  abstract heldTargets(after: TargetKey | null): Promise<TargetKey[]>;
}
