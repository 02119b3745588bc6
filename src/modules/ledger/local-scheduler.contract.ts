import type { Pressure } from '#engine/pressure.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival } from './accept.contract.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';

/** `run` in this process immediately, `park` until the target's gate opens, or `leave` for any worker to claim. */
export type Admission = 'run' | 'park' | 'leave';

/** The worker in this process, as the accepting side sees it. It can take accepted deliveries without a queue. */
export interface Scheduler {
  /** Returns the id under which this process claims deliveries; null while it must not claim. */
  claimant(): Id | null;
  /** Decides where the delivery goes. Reserves a slot if the decision is `run`. */
  reserve(arrival: Arrival): Admission;
  enqueue(deliveries: ClaimedDelivery[]): void;
  /** Frees the slots of deliveries whose commit failed. */
  releaseSlots(arrivals: readonly Arrival[]): void;
  /** Marks a claim after a commit with an unknown outcome. Rows that this worker does not know may then exist. */
  suspectClaim(claimant: Id): void;
  onUnclaimed(): void;
  /** Returns how many deliveries are ready but wait for CPU in this process, or null if none wait. */
  pressure(environmentId: number): Pressure | null;
}

/** Wakes workers in other processes for due deliveries. If a wake-up is lost, the next sweep finds the deliveries. */
export interface WakeQueue {
  announce(deliveries: DeliveryKey[]): void;
}
