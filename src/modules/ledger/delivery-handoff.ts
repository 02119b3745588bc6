import { Injectable } from '@nestjs/common';
import type { Pressure } from '#engine/pressure.js';
import { Lookout } from '#kernel/concurrency/due-work-poller.js';
import { isOutcomeUnknown } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { Arrival } from './accept.contract.js';
import type { ClaimedDelivery, DeliveryKey } from './claims.contract.js';
import { PARKED } from './due.store.js';
import { type Admission, type Handover, type Lane, Outlet } from './local-scheduler.contract.js';

/** What was left waits for the dispatcher, or behind a gate, which may be the first that does. */
const PARKED_MS = 200;

/** The outlet of this process. */
@Injectable()
export class LaneOutlet extends Outlet {
  private lane: Lane | null = null;
  private handover: Handover | null = null;

  constructor(private readonly lookout: Lookout) {
    super();
  }

  override attachLane(lane: Lane): void {
    this.lane = lane;
  }

  override attachHandover(handover: Handover): void {
    this.handover = handover;
  }

  /** The claim that rows are born with, or null while this process may not claim. */
  claimant(): Id | null {
    return this.lane?.claimant() ?? null;
  }

  /** Where a delivery goes first; a place is kept for it when the answer is `run`. */
  admission(arrival: Arrival, claimant: Id | null): Admission | 'pull' {
    if (arrival.pulled) return 'pull';
    return claimant && this.lane ? this.lane.admit(arrival) : 'leave';
  }

  /** What of an environment waits in this process for nothing but time; null when nothing does, and where nothing is delivered. */
  pressure(environmentId: number): Pressure | null {
    return this.lane?.pressure(environmentId) ?? null;
  }

  /** These were admitted and not committed: their places are free again. */
  giveBack(arrivals: readonly Arrival[]): void {
    this.lane?.giveBack(arrivals);
  }

  /** The commit of these failed, or so it seems. */
  failed(arrivals: readonly Arrival[], claimant: Id | null, error: unknown): void {
    this.giveBack(arrivals);
    if (claimant !== null && arrivals.length > 0 && isOutcomeUnknown(error)) this.lane?.doubt(claimant);
  }

  /** These are committed: what was admitted runs now, what was left is announced. */
  handOn(run: ClaimedDelivery[], left: DeliveryKey[]): void {
    this.lane?.take(run);
    if (left.length === 0) return;
    if (this.lane) this.left();
    else this.handover?.announce(left);
  }

  /** Rows were committed that nobody holds. */
  left(): void {
    this.lane?.left();
    this.lookout.expect(PARKED, PARKED_MS);
  }
}
