import type { Pressure } from '#engine/pressure.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival } from './accept.contract.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';

/** `run`: attempt it here, now. `park`: wait until the target may receive it. `leave`: let any worker claim it. */
export type Admission = 'run' | 'park' | 'leave';

/** The local scheduler, as the code that accepts events sees it. It receives accepted deliveries without a queue. */
export interface Scheduler {
  /** Returns the id under which this process claims deliveries; null while it must not claim. */
  claimant(): Id | null;
  /** Decides whether to attempt the delivery here, park it or leave it to any worker. Reserves a slot for `run`. */
  reserve(arrival: Arrival): Admission;
  enqueue(deliveries: ClaimedDelivery[]): void;
  /** Frees the slots of deliveries whose commit failed. */
  releaseSlots(arrivals: readonly Arrival[]): void;
  /** Marks a claimant as suspect: a commit under its id may have stored rows that this worker does not know about. */
  suspectClaim(claimant: Id): void;
  onUnclaimed(): void;
  /** Returns how many deliveries wait only for CPU time of this process, or null if none wait. */
  pressure(environmentId: number): Pressure | null;
}

/** Wakes workers in other processes for due deliveries. If a wake-up is lost, the next sweep finds the deliveries. */
export interface WakeQueue {
  announce(deliveries: DeliveryKey[]): void;
}
