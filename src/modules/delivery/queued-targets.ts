import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import type { TargetKey } from '#modules/ledger/claims.contract.js';
import { targetKey } from './circuit-watch.js';

/**
 * Which targets have deliveries behind their gates, as this worker knows. What is sent again goes behind those, even when there is room
 * for it: so that a replay starts in its order.
 */
@Injectable()
export class QueuedTargets {
  /** By target when something was last put there. */
  private readonly notedAt = new Map<string, number>();
  private moment = 0;

  has(environmentId: number, targetId: Id): boolean {
    return this.notedAt.has(targetKey(environmentId, targetId));
  }

  /** Something of this target is being put behind its gate, or was just now. */
  note(environmentId: number, targetId: Id): void {
    this.moment += 1;
    this.notedAt.set(targetKey(environmentId, targetId), this.moment);
  }

  /** A look at the table begins: what is noted after this it may have missed. */
  look(): number {
    this.moment += 1;
    return this.moment;
  }

  /** What the look that began at `sinceMoment` found: all targets with deliveries behind their gates, unless `isPart`. */
  found(sinceMoment: number, targets: readonly TargetKey[], isPart: boolean): void {
    const keys = new Set(targets.map(({ environmentId, targetId }) => targetKey(environmentId, targetId)));
    for (const [key, notedAt] of this.notedAt)
      if (!isPart && notedAt < sinceMoment && !keys.has(key)) this.notedAt.delete(key);
    for (const key of keys) if (!this.notedAt.has(key)) this.notedAt.set(key, sinceMoment);
  }
}
