import type { Pressure } from '#engine/pressure.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival } from './accept.contract.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';

/**
 * `run`: attempt the delivery in this process now. `park`: wait until the target may receive it. `leave`: any worker
 * may claim it.
 */
export type Admission = 'run' | 'park' | 'leave';

/**
 * Schedules deliveries in this process. The code that accepts events passes new deliveries to it directly, without a
 * queue.
 */
export interface Scheduler {
  /** Returns the id under which this process claims deliveries; null while it must not claim. */
  claimant(): Id | null;
  /**
   * Decides whether to attempt the delivery here (`run`), let it wait for its target (`park`), or leave it to any
   * worker. Reserves a slot for `run`.
   */
  reserve(arrival: Arrival): Admission;
  enqueue(deliveries: ClaimedDelivery[]): void;
  /** Frees the slots of deliveries whose commit failed. */
  releaseSlots(arrivals: readonly Arrival[]): void;
  /**
   * Reports that a commit of this claimant had an unknown outcome. The commit may have stored deliveries under the
   * claimant's id that this process does not have.
   */
  suspectClaim(claimant: Id): void;
  onUnclaimed(): void;
  /** Returns how many deliveries wait only for CPU time of this process, or null if none wait. */
  pressure(environmentId: number): Pressure | null;
}

/**
 * Wakes workers in other processes for due deliveries. If a wake-up is lost, the next periodic check of a worker finds
 * the deliveries.
 */
export interface WakeQueue {
  announce(deliveries: DeliveryKey[]): void;
}
