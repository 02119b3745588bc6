import { Injectable, Logger } from '@nestjs/common';
import { Notifications } from '#kernel/database/notifications.js';
import type { Id } from '#kernel/ids.js';
import { Cancellations, type CancelReason } from '#modules/ledger/cancellation.contract.js';
import { type ClaimedDelivery, Claims, type TargetKey } from '#modules/ledger/claims.contract.js';
import { targetKey } from './circuit-watch.js';
import { LocalScheduler } from './local-scheduler.js';

/** Longer than a claim is on its way from the table into the lane. */
const WATCHED_MS = 30_000;

/**
 * What this process holds of targets whose deliveries were cancelled or erased. Once it hears of one, what waits in the
 * lane is given back, which ends the marked ones. What is on its way into the lane at that moment is found by asking for
 * the mark before each start, and by giving back once more when that ends. While nothing can be heard, every start asks.
 */
@Injectable()
export class HeldCancellations {
  private readonly logger = new Logger(HeldCancellations.name);
  private readonly watched = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly lane: LocalScheduler,
    private readonly claims: Claims,
    private readonly cancellations: Cancellations,
    private readonly notifications: Notifications,
  ) {}

  start(): void {
    this.notifications.on(
      'withdrawal',
      (key) =>
        void this.heard(key).catch((error: unknown) => {
          this.logger.warn(`What was cancelled could not be given back: ${(error as Error).message}`);
        }),
    );
  }

  /** Why a delivery must not start any more, or null. Asks storage, and then is a promise, only where something was, or may have been, cancelled a moment ago. */
  reasonOf(delivery: ClaimedDelivery): CancelReason | null | Promise<CancelReason | null> {
    if (delivery.cancelReason) return delivery.cancelReason;
    return this.notifications.isDeaf() || this.isWatched(delivery) ? this.cancellations.reasonOf(delivery) : null;
  }

  private isWatched({ environmentId, targetId }: ClaimedDelivery): boolean {
    return this.watched.size > 0 && this.watched.has(targetKey(environmentId, targetId));
  }

  private async heard(key: string): Promise<void> {
    if (key !== '*') return this.cancelled(parsed(key));
    // Changes may have been missed.
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
    return this.claims.release(this.lane.evict(environmentId, targetId), true);
  }
}

function parsed(key: string): TargetKey {
  const colon = key.indexOf(':');
  return { environmentId: Number(key.slice(0, colon)), targetId: key.slice(colon + 1) };
}
