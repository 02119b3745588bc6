import { Injectable, Logger } from '@nestjs/common';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import type { Id } from '#kernel/ids.js';
import { type ClaimedDelivery, type DeliveryKey, type TargetKey } from './claims.contract.js';
import { DUE, DUE_IN_MS, DueStore, PARKED, PARKED_IN_MS } from './due.store.js';
import { untilStored } from './until-stored.js';

/** Claims deliveries for workers. A worker may attempt only the deliveries that it has claimed. */
@Injectable()
export class Claims {
  private readonly logger = new Logger('Ledger');

  constructor(
    private readonly store: DueStore,
    private readonly dueWork: DueWorkPoller,
  ) {}

  /** Calls `isDue` for due deliveries and `isParked` for parked ones, including those that other processes stored. */
  attend(isDue: () => void, isParked: () => void): void {
    this.dueWork.register({ name: DUE, inMs: DUE_IN_MS, wake: isDue });
    this.dueWork.register({ name: PARKED, inMs: PARKED_IN_MS, wake: isParked });
  }

  /** Claims due deliveries, oldest first. */
  due(claimant: Id, limit: number): Promise<ClaimedDelivery[]> {
    return this.store.claimDue(claimant, limit);
  }

  /** Claims up to `limit` due deliveries of environments that are not in the list, oldest first. */
  dueBeside(claimant: Id, environmentIds: readonly number[], limit: number): Promise<ClaimedDelivery[]> {
    return this.store.claimBeside(claimant, environmentIds, limit);
  }

  /** Returns targets with unclaimed deliveries in any state, in key order: at most 1,000 after the target `after`. */
  waitingDestinations(after: TargetKey | null): Promise<{ targets: TargetKey[]; last: TargetKey | null }> {
    return this.store.waitingDestinations(after);
  }

  /** Claims the given deliveries, if they are due and unclaimed. */
  these(claimant: Id, keys: readonly DeliveryKey[]): Promise<ClaimedDelivery[]> {
    return this.store.claimThese(claimant, keys);
  }

  /** Claims the target's parked deliveries, longest waiting first. */
  parked(claimant: Id, environmentId: number, targetId: Id, limit: number): Promise<ClaimedDelivery[]> {
    return this.store.claimParked(claimant, environmentId, targetId, limit);
  }

  /** Makes claimed deliveries due immediately, or parks them. Retries until storage is available. */
  async release(deliveries: readonly ClaimedDelivery[], parked: boolean): Promise<void> {
    if (deliveries.length === 0) return;
    await untilStored(this.logger, 'Giving back claims', () => this.store.release(deliveries, parked));
    if (parked) this.dueWork.schedule(PARKED, 0);
  }

  /** Returns at most 1,000 targets with parked deliveries. */
  parkedTargets(): Promise<TargetKey[]> {
    return this.store.parkedTargets();
  }

  async park(environmentId: number, targetId: Id): Promise<void> {
    while ((await this.store.park(environmentId, targetId)) > 0) this.dueWork.schedule(PARKED, 0);
  }

  /** Ends every waiting delivery of a target for which retries cannot help. Returns how many were ended. */
  async failWaiting(environmentId: number, targetId: Id, reason: string): Promise<number> {
    let total = 0;
    for (let count = -1; count !== 0; total += count)
      count = await this.store.failWaiting(environmentId, targetId, reason);
    return total;
  }
}
