import { Injectable, Logger } from '@nestjs/common';
import { Notifications } from '#kernel/database/notifications.js';
import type { Id } from '#kernel/ids.js';
import { type CancelReason } from '#modules/ledger/cancellation.contract.js';
import { Cancellations } from '#modules/ledger/cancellations.js';
import { type ClaimedDelivery, type TargetKey } from '#modules/ledger/claims.contract.js';
import { Claims } from '#modules/ledger/claims.js';
import { targetKey } from './circuit-watch.js';
import { LocalScheduler } from './local-scheduler.js';

/** Maximum time between the claim of a delivery in the database and its arrival in the local scheduler. */
const WATCHED_MS = 30_000;

/**
 * Stops canceled or erased deliveries that this process has already claimed. A notification names the target of the
 * deliveries.
 *
 * This process then evicts all deliveries to the target that wait in the local scheduler, and releases their claims.
 * The release ends the canceled ones.
 *
 * Other deliveries to the target may be claimed but not yet in the scheduler. For 30 seconds, each delivery to the
 * target is therefore checked against storage before it starts. The eviction is then repeated.
 *
 * While notifications are unavailable, every delivery is checked against storage before it starts.
 */
@Injectable()
export class HeldCancellations {
  private readonly logger = new Logger(HeldCancellations.name);
  private readonly watched = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly scheduler: LocalScheduler,
    private readonly claims: Claims,
    private readonly cancellations: Cancellations,
    private readonly notifications: Notifications,
  ) {}

  start(): void {
    this.notifications.on(
      'withdrawal',
      (key) =>
        void this.onCancellation(key).catch((error: unknown) => {
          this.logger.warn(`Canceled deliveries could not be released: ${(error as Error).message}`);
        }),
    );
  }

  /** Returns the reason not to start the delivery, or null. Queries storage only if a cancellation is possible. */
  reasonOf(delivery: ClaimedDelivery): CancelReason | null | Promise<CancelReason | null> {
    if (delivery.cancelReason) return delivery.cancelReason;
    return this.notifications.isDeaf() || this.isWatched(delivery) ? this.cancellations.reasonOf(delivery) : null;
  }

  private isWatched({ environmentId, targetId }: ClaimedDelivery): boolean {
    return this.watched.size > 0 && this.watched.has(targetKey(environmentId, targetId));
  }

  private async onCancellation(key: string): Promise<void> {
    if (key !== '*') return this.cancelled(parsed(key));
    // Notifications may have been missed, so all targets with canceled deliveries are read from storage.
    let after: TargetKey | null = null;
    do {
      const targets: TargetKey[] = await this.cancellations.heldTargets(after);
      for (const target of targets) await this.cancelled(target);
      after = targets.at(-1) ?? null;
    } while (after !== null);
  }

  private async cancelled({ environmentId, targetId }: TargetKey): Promise<void> {
    this.watch(environmentId, targetId);
    await this.giveBack(environmentId, targetId);
  }

  private watch(environmentId: number, targetId: Id): void {
    const key = targetKey(environmentId, targetId);
    clearTimeout(this.watched.get(key));
    const timer = setTimeout(() => {
      this.watched.delete(key);
      void this.giveBack(environmentId, targetId).catch(() => undefined);
    }, WATCHED_MS);
    this.watched.set(key, timer.unref());
  }

  private giveBack(environmentId: number, targetId: Id): Promise<void> {
    return this.claims.release(this.scheduler.evict(environmentId, targetId), true);
  }
}

function parsed(key: string): TargetKey {
  const colon = key.indexOf(':');
  return { environmentId: Number(key.slice(0, colon)), targetId: key.slice(colon + 1) };
}
