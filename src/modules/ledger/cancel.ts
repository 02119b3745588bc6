import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { Notifications } from '#kernel/notifications.js';
import type { DeliveryKey } from './accept.contract.js';
import { EraseStore, type MessageMember } from '#modules/events/erase.store.js';
import { type TargetKey, Withdrawal, type WaitingSelection, type WithdrawnReason } from '#modules/events/recovery.contract.js';
import { WithdrawStore } from './cancel.store.js';

/** Withdrawal over PostgreSQL. Workers are told of every target that they hold something of. */
@Injectable()
export class Withdrawing extends Withdrawal {
  constructor(
    private readonly withdrawals: WithdrawStore,
    private readonly erasures: EraseStore,
    private readonly notifications: Notifications,
  ) {
    super();
  }

  override async cancelTarget(selection: WaitingSelection): Promise<number> {
    const { count, held } = await this.withdrawals.ofTarget(selection, 'cancelled');
    await this.announce(selection.environmentId, held);
    return count;
  }

  override async cancelEvent(environmentId: number, id: Id): Promise<number | null> {
    const members = await this.erasures.members(environmentId, id);
    return members.length === 0 ? null : this.withdraw(environmentId, members, 'cancelled');
  }

  /** The payload first: from then on whoever claims a delivery ends it, also when this process dies in between. */
  override async erase(environmentId: number, id: Id): Promise<boolean> {
    const named = await this.erasures.members(environmentId, id);
    const [first] = named;
    if (first === undefined) return false;
    const members = first.messageId === null || first.messageId === id ? named : await this.erasures.members(environmentId, first.messageId);
    if (first.messageId === null) await this.erasures.event(environmentId, id);
    else await this.erasures.message(environmentId, first.messageId);
    await this.withdraw(environmentId, members, 'erased');
    return true;
  }

  override erasedAt(environmentId: number, id: Id): Promise<Date | null> {
    return this.erasures.erasedAt(environmentId, id);
  }

  override reasonOf(key: DeliveryKey): Promise<WithdrawnReason | null> {
    return this.withdrawals.reasonOf(key);
  }

  override heldTargets(after: TargetKey | null): Promise<TargetKey[]> {
    return this.withdrawals.held(after);
  }

  private async withdraw(environmentId: number, members: readonly MessageMember[], reason: WithdrawnReason): Promise<number> {
    const { count, held } = await this.withdrawals.ofEvents(environmentId, members.map(({ id }) => id), reason);
    await this.announce(environmentId, held);
    return count;
  }

  private async announce(environmentId: number, targets: readonly Id[]): Promise<void> {
    for (const targetId of targets) await this.notifications.announce('withdrawal', `${environmentId}:${targetId}`);
  }
}
