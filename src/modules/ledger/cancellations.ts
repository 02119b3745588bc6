import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import type { Id } from '#kernel/ids.js';
import { CancelStore } from './cancel.store.js';
import { type CancelReason, type WaitingSelection } from './cancellation.contract.js';
import type { DeliveryKey, TargetKey } from './claims.contract.js';

/** Cancels deliveries in PostgreSQL. Notifies the workers if they have claimed some of these deliveries. */
@Injectable()
export class Cancellations {
  constructor(
    private readonly store: CancelStore,
    private readonly notifications: Notifications,
    private readonly database: Database,
  ) {}

  /**
   * Cancels the selected deliveries in short transactions, so that locks are brief. Returns the number of canceled
   * deliveries. Commits the caller's earlier changes first.
   */
  async ofTarget(selection: WaitingSelection): Promise<number> {
    await this.database.commitEarly();
    const { count, held } = await this.store.ofTarget(selection, 'cancelled');
    await this.announce(selection.environmentId, held);
    return count;
  }

  /** Cancels deliveries of events to one target, or to all targets. Returns the number of canceled deliveries. */
  async ofEvents(environmentId: number, eventIds: readonly Id[], reason: CancelReason, targetId?: Id): Promise<number> {
    await this.database.commitEarly();
    const { count, held } = await this.store.ofEvents(environmentId, eventIds, reason, targetId ?? null);
    await this.announce(environmentId, held);
    return count;
  }

  /** Returns the reason to end a claimed delivery without an attempt, or null if its attempt can start. */
  reasonOf(key: DeliveryKey): Promise<CancelReason | null> {
    return this.store.reasonOf(key);
  }

  /**
   * Returns targets with claimed deliveries that are marked as canceled: at most 1,000 in key order, after `after`.
   */
  heldTargets(after: TargetKey | null): Promise<TargetKey[]> {
    return this.store.held(after);
  }

  private async announce(environmentId: number, targets: readonly Id[]): Promise<void> {
    for (const targetId of targets) await this.notifications.announce('withdrawal', `${environmentId}:${targetId}`);
  }
}
