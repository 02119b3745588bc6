import type { Pressure } from '#engine/pressure.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival } from './accept.contract.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';

/** Where a new delivery goes first: to this process at once, behind its target's gate, or to whoever claims it. */
export type Admission = 'run' | 'park' | 'leave';

/** The worker in this process, as far as accepting knows it: it may take what was accepted without a hop. */
export interface Scheduler {
  /** The claim that rows are born with, or null while this process may not claim. */
  claimant(): Id | null;
  /** Decides for one delivery, and keeps a place for it when the answer is `run`. */
  reserve(arrival: Arrival): Admission;
  /** The commit is through: these run now. */
  enqueue(deliveries: ClaimedDelivery[]): void;
  /** The commit failed: the places are free again. */
  releaseSlots(arrivals: readonly Arrival[]): void;
  /** Nobody knows whether a commit under this claim failed: there may be rows of it that this worker has never heard of. */
  suspectClaim(claimant: Id): void;
  /** Rows were committed that nobody holds. */
  onUnclaimed(): void;
  /** What of an environment waits here for nothing but this machine's time; null when nothing does. */
  pressure(environmentId: number): Pressure | null;
}

/** Tells workers elsewhere that deliveries are due. A wake-up only: losing it delays nothing by more than a sweep. */
export interface WakeQueue {
  announce(deliveries: DeliveryKey[]): void;
}

/** Where accepted deliveries go: into the lane of this process, or to whoever claims them. Connected by the delivery context. */
export abstract class DeliverySinks {
  /** Connects the worker of this process. */
  abstract attachScheduler(scheduler: Scheduler): void;

  /** Connects the queue that wakes workers elsewhere. */
  abstract attachWakeQueue(wakeQueue: WakeQueue): void;
}
