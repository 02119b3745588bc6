import { Injectable } from '@nestjs/common';
import type { Pressure } from '#engine/pressure.js';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { isOutcomeUnknown } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival } from './accept.contract.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';
import { PARKED } from './due.store.js';
import { type Admission, DeliverySinks, type Scheduler, type WakeQueue } from './local-scheduler.contract.js';

/**
 * Delay until the due-work poller checks for parked deliveries. A delivery that was just committed may be the first one
 * behind its gate.
 */
const PARKED_MS = 200;

/** Hands committed deliveries to the worker of this process, or wakes other workers. */
@Injectable()
export class DeliveryHandoff extends DeliverySinks {
  private scheduler: Scheduler | null = null;
  private wakeQueue: WakeQueue | null = null;

  constructor(private readonly dueWork: DueWorkPoller) {
    super();
  }

  override attachScheduler(scheduler: Scheduler): void {
    this.scheduler = scheduler;
  }

  override attachWakeQueue(wakeQueue: WakeQueue): void {
    this.wakeQueue = wakeQueue;
  }

  /** Returns the worker id for the claims of new rows, or null while this process may not claim. */
  claimant(): Id | null {
    return this.scheduler?.claimant() ?? null;
  }

  /** Returns where a delivery goes. For `run`, a slot is reserved. */
  admission(arrival: Arrival, claimant: Id | null): Admission | 'pull' {
    if (arrival.pulled) return 'pull';
    return claimant && this.scheduler ? this.scheduler.reserve(arrival) : 'leave';
  }

  /**
   * Returns the environment's deliveries that are ready but waiting for CPU in this process, or null if there are none
   * or this process does not deliver.
   */
  pressure(environmentId: number): Pressure | null {
    return this.scheduler?.pressure(environmentId) ?? null;
  }

  /** Releases the slots of deliveries that were admitted but not committed. */
  release(arrivals: readonly Arrival[]): void {
    this.scheduler?.releaseSlots(arrivals);
  }

  /** Handles a failed commit. If the outcome is unknown, the claim is marked as suspect. */
  recordFailure(arrivals: readonly Arrival[], claimant: Id | null, error: unknown): void {
    this.release(arrivals);
    if (claimant !== null && arrivals.length > 0 && isOutcomeUnknown(error)) this.scheduler?.suspectClaim(claimant);
  }

  /** Handles a successful commit: starts the admitted deliveries and announces the others. */
  dispatch(run: ClaimedDelivery[], left: DeliveryKey[]): void {
    this.scheduler?.enqueue(run);
    if (left.length === 0) return;
    if (this.scheduler) this.notifyUnclaimed();
    else this.wakeQueue?.announce(left);
  }

  /** Reports that unclaimed rows were committed. */
  notifyUnclaimed(): void {
    this.scheduler?.onUnclaimed();
    this.dueWork.schedule(PARKED, PARKED_MS);
  }
}
