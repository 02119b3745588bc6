import type { Pressure } from '#engine/pressure.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival } from './accept.contract.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';

/**
 * Routes a new delivery: `run` in this process immediately, `park` behind its target's gate, or `leave` for any worker
 * to claim.
 */
export type Admission = 'run' | 'park' | 'leave';

/** The worker in this process, as the accepting side sees it. It can take accepted deliveries without a queue. */
export interface Scheduler {
  /** Returns the claim id for new rows, or null while this process may not claim. */
  claimant(): Id | null;
  /** Decides where a delivery goes, and reserves a slot for it if the decision is `run`. */
  reserve(arrival: Arrival): Admission;
  /** Starts the deliveries after their commit succeeded. */
  enqueue(deliveries: ClaimedDelivery[]): void;
  /** Releases the reserved slots after the commit failed. */
  releaseSlots(arrivals: readonly Arrival[]): void;
  /**
   * Marks a claim id as uncertain: it is unknown whether a commit under it succeeded, so rows may exist that this
   * worker does not know.
   */
  suspectClaim(claimant: Id): void;
  /** Reports that unclaimed rows were committed. */
  onUnclaimed(): void;
  /**
   * Returns the environment's deliveries that are ready but waiting for CPU in this process, or null if there are none.
   */
  pressure(environmentId: number): Pressure | null;
}

/**
 * Wakes workers in other processes when deliveries are due. If a wake-up is lost, the next sweep finds the deliveries.
 */
export interface WakeQueue {
  announce(deliveries: DeliveryKey[]): void;
}

/**
 * Targets for accepted deliveries: the local scheduler of this process, or the queue that wakes other workers. The
 * delivery context registers both.
 */
export abstract class DeliverySinks {
  /** Registers the worker of this process. */
  abstract attachScheduler(scheduler: Scheduler): void;

  /** Registers the queue that wakes workers in other processes. */
  abstract attachWakeQueue(wakeQueue: WakeQueue): void;
}
