import { Injectable, Logger } from '@nestjs/common';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import type { Id } from '#kernel/ids.js';
import { type ClaimedDelivery, Claims, type DeliveryKey, type TargetKey } from './claims.contract.js';
import { DUE, DUE_IN_MS, DueStore, PARKED, PARKED_IN_MS } from './due.store.js';
import { untilStored } from './until-stored.js';

@Injectable()
export class StoredClaims extends Claims {
  private readonly logger = new Logger('Ledger');

  constructor(
    private readonly store: DueStore,
    private readonly dueWork: DueWorkPoller,
  ) {
    super();
  }

  override attend(isDue: () => void, isParked: () => void): void {
    this.dueWork.register({ name: DUE, inMs: DUE_IN_MS, wake: isDue });
    this.dueWork.register({ name: PARKED, inMs: PARKED_IN_MS, wake: isParked });
  }

  override due(claimant: Id, limit: number): Promise<ClaimedDelivery[]> {
    return this.store.claimDue(claimant, limit);
  }

  override dueBeside(claimant: Id, environmentIds: readonly number[], limit: number): Promise<ClaimedDelivery[]> {
    return this.store.claimBeside(claimant, environmentIds, limit);
  }

  override waitingDestinations(after: TargetKey | null): Promise<{ targets: TargetKey[]; last: TargetKey | null }> {
    return this.store.waitingDestinations(after);
  }

  override these(claimant: Id, keys: readonly DeliveryKey[]): Promise<ClaimedDelivery[]> {
    return this.store.claimThese(claimant, keys);
  }

  override parked(claimant: Id, environmentId: number, targetId: Id, limit: number): Promise<ClaimedDelivery[]> {
    return this.store.claimParked(claimant, environmentId, targetId, limit);
  }

  override async release(deliveries: readonly ClaimedDelivery[], parked: boolean): Promise<void> {
    if (deliveries.length === 0) return;
    await untilStored(this.logger, 'Giving back claims', () => this.store.release(deliveries, parked));
    if (parked) this.dueWork.schedule(PARKED, 0);
  }

  override parkedTargets(): Promise<TargetKey[]> {
    return this.store.parkedTargets();
  }

  override async park(environmentId: number, targetId: Id): Promise<void> {
    while ((await this.store.park(environmentId, targetId)) > 0) this.dueWork.schedule(PARKED, 0);
  }

  override async failWaiting(environmentId: number, targetId: Id, reason: string): Promise<number> {
    let total = 0;
    for (let count = -1; count !== 0; total += count)
      count = await this.store.failWaiting(environmentId, targetId, reason);
    return total;
  }
}
