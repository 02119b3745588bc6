import { Injectable } from '@nestjs/common';
import type { Pressure } from '#engine/pressure.js';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { isOutcomeUnknown } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival } from './accept.contract.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';
import { PARKED } from './due.store.js';
import { type Admission, DeliverySinks, type Scheduler, type WakeQueue } from './local-scheduler.contract.js';

/** What was left waits for the dispatcher, or behind a gate, which may be the first that does. */
const PARKED_MS = 200;

/** The outlet of this process. */
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

  /** The claim that rows are born with, or null while this process may not claim. */
  claimant(): Id | null {
    return this.scheduler?.claimant() ?? null;
  }

  /** Where a delivery goes first; a place is kept for it when the answer is `run`. */
  admission(arrival: Arrival, claimant: Id | null): Admission | 'pull' {
    if (arrival.pulled) return 'pull';
    return claimant && this.scheduler ? this.scheduler.reserve(arrival) : 'leave';
  }

  /** What of an environment waits in this process for nothing but time; null when nothing does, and where nothing is delivered. */
  pressure(environmentId: number): Pressure | null {
    return this.scheduler?.pressure(environmentId) ?? null;
  }

  /** These were admitted and not committed: their places are free again. */
  release(arrivals: readonly Arrival[]): void {
    this.scheduler?.releaseSlots(arrivals);
  }

  /** The commit of these failed, or so it seems. */
  recordFailure(arrivals: readonly Arrival[], claimant: Id | null, error: unknown): void {
    this.release(arrivals);
    if (claimant !== null && arrivals.length > 0 && isOutcomeUnknown(error)) this.scheduler?.suspectClaim(claimant);
  }

  /** These are committed: what was admitted runs now, what was left is announced. */
  dispatch(run: ClaimedDelivery[], left: DeliveryKey[]): void {
    this.scheduler?.enqueue(run);
    if (left.length === 0) return;
    if (this.scheduler) this.notifyUnclaimed();
    else this.wakeQueue?.announce(left);
  }

  /** Rows were committed that nobody holds. */
  notifyUnclaimed(): void {
    this.scheduler?.onUnclaimed();
    this.dueWork.schedule(PARKED, PARKED_MS);
  }
}
