import { Injectable, Logger } from '@nestjs/common';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import type { Id } from '#kernel/ids.js';
import { type ClaimedDelivery, type DeliveryKey, type TargetKey } from './claims.contract.js';
import { CLAIM_BYTES_MAX, DUE, DUE_IN_MS, DueStore, PARKED, PARKED_IN_MS } from './due.store.js';
import { untilStored } from './until-stored.js';

/** Claims deliveries for workers. A worker may attempt only the deliveries that it has claimed. */
@Injectable()
export class Claims {
  private readonly logger = new Logger('Ledger');

  constructor(
    private readonly store: DueStore,
    private readonly dueWork: DueWorkPoller,
  ) {}

  /**
   * Registers callbacks: `isDue` runs when deliveries are due, and `isParked` when deliveries wait for a rate limit or
   * an open circuit. Both also run for deliveries that other processes stored.
   */
  attend(isDue: () => void, isParked: () => void): void {
    this.dueWork.register({ name: DUE, inMs: DUE_IN_MS, wake: isDue });
    this.dueWork.register({ name: PARKED, inMs: PARKED_IN_MS, wake: isParked });
  }

  /** Claims due deliveries, oldest first. */
  due(claimant: Id, limit: number): Promise<ClaimedDelivery[]> {
    return this.store.claimDue(claimant, limit);
  }

  /**
   * Returns true if the claim reached the limit or the maximum size of a batch, so that more due deliveries may be
   * unclaimed.
   */
  mayLeaveMore(claimed: readonly ClaimedDelivery[], limit: number): boolean {
    if (claimed.length === limit) return true;
    // Upper bound of the payload's size: a UTF-16 code unit takes at most three bytes in UTF-8. Counting the exact
    // bytes would cost more than an unnecessary claim.
    const bytesMax = ({ messageId, payload }: ClaimedDelivery): number =>
      messageId === null && payload !== null ? payload.length * (typeof payload === 'string' ? 3 : 1) : 0;
    return claimed.reduce((sum, delivery) => sum + bytesMax(delivery), 0) >= CLAIM_BYTES_MAX;
  }

  /** Claims up to `limit` due deliveries, oldest first, except those of the given environments. */
  dueBeside(claimant: Id, environmentIds: readonly number[], limit: number): Promise<ClaimedDelivery[]> {
    return this.store.claimBeside(claimant, environmentIds, limit);
  }

  /** Returns up to 1,000 targets with unclaimed deliveries, in key order, starting after the target `after`. */
  waitingDestinations(after: TargetKey | null): Promise<{ targets: TargetKey[]; last: TargetKey | null }> {
    return this.store.waitingDestinations(after);
  }

  /** Claims the deliveries with these keys, if they are due and unclaimed. */
  these(claimant: Id, keys: readonly DeliveryKey[]): Promise<ClaimedDelivery[]> {
    return this.store.claimThese(claimant, keys);
  }

  /**
   * Claims parked deliveries, which wait until the target accepts deliveries again. Claims the longest waiting ones
   * first.
   */
  parked(claimant: Id, environmentId: number, targetId: Id, limit: number): Promise<ClaimedDelivery[]> {
    return this.store.claimParked(claimant, environmentId, targetId, limit);
  }

  /**
   * Releases claimed deliveries. Makes them due now, or parks them (`parked`) until the target accepts deliveries
   * again. Retries until stored.
   */
  async release(deliveries: readonly ClaimedDelivery[], parked: boolean): Promise<void> {
    if (deliveries.length === 0) return;
    await untilStored(this.logger, 'Giving back claims', () => this.store.release(deliveries, parked));
    if (parked) this.dueWork.schedule(PARKED, 0);
  }

  /** Returns at most 1,000 targets with parked deliveries, which wait until the target accepts deliveries again. */
  parkedTargets(): Promise<TargetKey[]> {
    return this.store.parkedTargets();
  }

  async park(environmentId: number, targetId: Id): Promise<void> {
    while ((await this.store.park(environmentId, targetId)) > 0) this.dueWork.schedule(PARKED, 0);
  }

  /**
   * Ends every waiting delivery to a target, because retries cannot succeed. Returns the number of ended deliveries.
   */
  async failWaiting(environmentId: number, targetId: Id, reason: string): Promise<number> {
    let total = 0;
    for (let count = -1; count !== 0; total += count)
      count = await this.store.failWaiting(environmentId, targetId, reason);
    return total;
  }
}
