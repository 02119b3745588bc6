import type { Pressure } from '#engine/pressure.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival } from './accept.contract.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';

/** `run` in this process immediately, `park` behind the target's gate, or `leave` for any worker to claim. */
export type Admission = 'run' | 'park' | 'leave';

/** The worker in this process, as the accepting side sees it. It can take accepted deliveries without a queue. */
export interface Scheduler {
  /** Null while this process may not claim. */
  claimant(): Id | null;
  /** Reserves a slot if the decision is `run`. */
  reserve(arrival: Arrival): Admission;
  enqueue(deliveries: ClaimedDelivery[]): void;
  /** After the commit failed. */
  releaseSlots(arrivals: readonly Arrival[]): void;
  /** It is unknown whether a commit under this id succeeded, so rows may exist that this worker does not know. */
  suspectClaim(claimant: Id): void;
  onUnclaimed(): void;
  /** Deliveries that are ready but waiting for CPU in this process, or null if there are none. */
  pressure(environmentId: number): Pressure | null;
}

/** Wakes workers in other processes for due deliveries. If a wake-up is lost, the next sweep finds them. */
export interface WakeQueue {
  announce(deliveries: DeliveryKey[]): void;
}

/** The local scheduler, or the queue that wakes other workers. The delivery context registers both. */
export abstract class DeliverySinks {
  abstract attachScheduler(scheduler: Scheduler): void;

  abstract attachWakeQueue(wakeQueue: WakeQueue): void;
}
