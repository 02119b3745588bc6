import { Injectable, Logger } from '@nestjs/common';
import { Ledger, type ClaimedDelivery } from '#modules/events/contract.js';
import { Withdrawal, type WithdrawnReason } from '#modules/events/recovery.contract.js';
import type { Id } from '#kernel/ids.js';
import type { Notifications } from '#kernel/notifications.js';
import { targetKey } from './circuit-watch.js';
import { DeliveryLane } from './lane.js';

/** Longer than a claim is on its way from the table into the lane. */
const WATCHED_MS = 30_000;

/**
 * What this process holds of targets whose deliveries were cancelled or erased. Once it hears of one, what waits in the
 * lane is given back, which ends the marked ones. What is on its way into the lane at that moment is found by asking for
 * the mark before each start, and by giving back once more when that ends.
 */
@Injectable()
export class Withdrawals {
  private readonly logger = new Logger(Withdrawals.name);
  private readonly watched = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly lane: DeliveryLane,
    private readonly ledger: Ledger,
    private readonly withdrawal: Withdrawal,
  ) {}

  start(notifications: Notifications): void {
    notifications.on('withdrawal', (key) => void this.heard(key).catch((error: unknown) => {
      this.logger.warn(`What was withdrawn could not be given back: ${(error as Error).message}`);
    }));
  }

  /** Why a delivery must not start any more, or null. Asks storage only where something was withdrawn a moment ago. */
  async reasonOf(delivery: ClaimedDelivery): Promise<WithdrawnReason | null> {
    if (delivery.withdrawn) return delivery.withdrawn;
    const isWatched = this.watched.has(targetKey(delivery.environmentId, delivery.targetId));
    return isWatched ? this.withdrawal.reasonOf(delivery) : null;
  }

  private async heard(key: string): Promise<void> {
    // Changes may have been missed.
    const targets = key === '*' ? await this.withdrawal.heldTargets() : [parsed(key)];
    for (const { environmentId, targetId } of targets) {
      this.watch(environmentId, targetId);
      await this.giveBack(environmentId, targetId);
    }
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
    return this.ledger.release(this.lane.evict(environmentId, targetId), true);
  }
}

function parsed(key: string): { environmentId: number; targetId: Id } {
  const colon = key.indexOf(':');
  return { environmentId: Number(key.slice(0, colon)), targetId: key.slice(colon + 1) };
}
