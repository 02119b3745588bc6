import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { DeliveryHandoff } from './delivery-handoff.js';
import { type Behind, DEAD_LETTERS_STEP, RedeliverStore, type Sendable } from './redeliver.store.js';
import {
  type ChooseAddressees,
  type FindObstacle,
  type Redelivered,
  type Redelivery,
  type Resent,
  type SendableRow,
  type StoredEvent,
  type Whereabouts,
} from './redelivery.contract.js';

/** Redelivers events. Wakes the dispatcher of this process after the commit. */
@Injectable()
export class Redeliveries {
  constructor(
    private readonly store: RedeliverStore,
    private readonly handoff: DeliveryHandoff,
  ) {}

  /** Redelivers an event to the addressees that `choose` selects, even if they have already received it. */
  redeliverEvent(tenant: Tenant, eventId: Id, obstacleOf: FindObstacle, choose: ChooseAddressees): Promise<Resent> {
    return this.store.transaction(async () => {
      const rows = await this.store.ofEvent(tenant, eventId);
      return this.resend(tenant, rows.length === 0 ? rows : await choose(rows), obstacleOf);
    });
  }

  /**
   * Redelivers dead letters. Within the caller's unit of work, redelivers all or none. Otherwise uses several commits.
   */
  async redeliverDeadLetters(tenant: Tenant, selection: Redelivery, obstacleOf: FindObstacle): Promise<Resent> {
    const known = once(obstacleOf);
    const total: Resent = { made: 0, left: 0, obstacle: null };
    let behind: Behind | null = null;
    for (;;) {
      const { resent, last, isLast } = await this.store.transaction(() => this.step(tenant, selection, behind, known));
      total.made += resent.made;
      total.left += resent.left;
      total.obstacle ??= resent.obstacle;
      if (isLast) return total;
      behind = last;
    }
  }

  /** Returns the events' targets in event order. Blocks other replays of the environment until the transaction ends. */
  whereabouts(environmentId: number, events: readonly StoredEvent[], which: Whereabouts): Promise<SendableRow[]> {
    return this.store.whereabouts(environmentId, events, which);
  }

  /**
   * Clears an event's disposition, such as `quarantined`, so that its deliveries determine its status. Uses the
   * caller's transaction.
   */
  admit(environmentId: number, event: StoredEvent): Promise<void> {
    return this.store.admit(environmentId, event);
  }

  /** Creates deliveries in the caller's transaction. Returns their number. */
  async redeliverTo(environmentId: number, picked: readonly Redelivered[]): Promise<number> {
    const count = await this.store.to(environmentId, picked);
    // Notifies after the commit. Otherwise the dispatcher's loop would run inside the caller's unit of work.
    if (count > 0) this.store.afterCommit(() => this.handoff.notifyUnclaimed());
    return count;
  }

  private async step(
    tenant: Tenant,
    selection: Redelivery,
    behind: Behind | null,
    obstacleOf: FindObstacle,
  ): Promise<{ resent: Resent; last: Behind | null; isLast: boolean }> {
    const rows = await this.store.deadLetters(tenant, selection, behind);
    const whole = rows.filter(({ isDropped }) => !isDropped);
    const resent = await this.resend(tenant, whole, obstacleOf);
    return {
      resent: { ...resent, left: resent.left + rows.length - whole.length },
      last: rows.at(-1) ?? null,
      isLast: rows.length < DEAD_LETTERS_STEP,
    };
  }

  /**
   * Creates deliveries, except for addressees that currently accept no deliveries. Deliveries to these addressees would
   * fail and only replace the dead letters.
   */
  private async resend(
    { environmentId }: Tenant,
    rows: readonly Sendable[],
    obstacleOf: FindObstacle,
  ): Promise<Resent> {
    const taken: Sendable[] = [];
    let obstacle: string | null = null;
    for (const row of rows) {
      const why = await obstacleOf({
        targetId: row.targetId,
        endpointId: row.applicationEndpointId,
        isAdHoc: row.isAdHoc,
      });
      if (why === null) taken.push(row);
      else obstacle ??= why;
    }
    const made = taken.length === 0 ? 0 : await this.redeliverTo(environmentId, taken);
    return { made, left: rows.length - taken.length, obstacle };
  }
}

function once(obstacleOf: FindObstacle): FindObstacle {
  const known = new Map<string, Promise<string | null>>();
  return (addressee) => {
    const key = `${addressee.targetId} ${addressee.endpointId}`;
    const found = known.get(key) ?? obstacleOf(addressee);
    known.set(key, found);
    return found;
  };
}
