import { Injectable } from '@nestjs/common';
import type { Pressure } from '#engine/pressure.js';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { isOutcomeUnknown } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival } from './accept.contract.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';
import { PARKED } from './due.store.js';
import { type Admission, type Scheduler, type WakeQueue } from './local-scheduler.contract.js';

/**
 * Delay after a commit before the poller looks for parked deliveries. A new delivery may be the first one that is
 * parked for its target, because of a rate limit or an open circuit.
 */
const PARKED_MS = 200;

/**
 * Passes new deliveries to the local scheduler, or to a queue that wakes other workers. modules/delivery registers
 * both.
 */
@Injectable()
export class DeliveryHandoff {
  private scheduler: Scheduler | null = null;
  private wakeQueue: WakeQueue | null = null;

  constructor(private readonly dueWork: DueWorkPoller) {}

  attachScheduler(scheduler: Scheduler): void {
    this.scheduler = scheduler;
  }

  attachWakeQueue(wakeQueue: WakeQueue): void {
    this.wakeQueue = wakeQueue;
  }

  /** Returns the id under which this process claims deliveries; null while it must not claim. */
  claimant(): Id | null {
    return this.scheduler?.claimant() ?? null;
  }

  /**
   * Decides whether to attempt the delivery here (`run`), let it wait for its target (`park`), or leave it to any
   * worker. Reserves a slot for `run`.
   */
  admission(arrival: Arrival, claimant: Id | null): Admission | 'pull' {
    if (arrival.pulled) return 'pull';
    return claimant && this.scheduler ? this.scheduler.reserve(arrival) : 'leave';
  }

  /** Returns the deliveries that wait only for CPU time. Null if none wait or this process does not deliver. */
  pressure(environmentId: number): Pressure | null {
    return this.scheduler?.pressure(environmentId) ?? null;
  }

  release(arrivals: readonly Arrival[]): void {
    this.scheduler?.releaseSlots(arrivals);
  }

  /**
   * Frees the reserved slots after a failed commit. If the outcome of the commit is unknown, also notifies the local
   * scheduler: the database may contain claims of this process for deliveries that the process does not have.
   */
  recordFailure(arrivals: readonly Arrival[], claimant: Id | null, error: unknown): void {
    this.release(arrivals);
    if (claimant !== null && arrivals.length > 0 && isOutcomeUnknown(error)) this.scheduler?.suspectClaim(claimant);
  }

  /** Starts the deliveries in `run`, and notifies other workers about those in `left`. */
  dispatch(run: ClaimedDelivery[], left: DeliveryKey[]): void {
    this.scheduler?.enqueue(run);
    if (left.length === 0) return;
    if (this.scheduler) this.notifyUnclaimed();
    else this.wakeQueue?.announce(left);
  }

  notifyUnclaimed(): void {
    this.scheduler?.onUnclaimed();
    this.dueWork.schedule(PARKED, PARKED_MS);
  }
}
