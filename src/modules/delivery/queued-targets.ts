import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import type { TargetKey } from '#modules/ledger/claims.contract.js';
import { targetKey } from './circuit-watch.js';

/**
 * Targets with parked deliveries, which wait until the target accepts more. Replayed deliveries to these targets are
 * also parked, to keep their order.
 */
@Injectable()
export class QueuedTargets {
  /** Logical time at which a delivery was last parked, by target. */
  private readonly notedAt = new Map<string, number>();
  private moment = 0;

  has(environmentId: number, targetId: Id): boolean {
    return this.notedAt.has(targetKey(environmentId, targetId));
  }

  note(environmentId: number, targetId: Id): void {
    this.moment += 1;
    this.notedAt.set(targetKey(environmentId, targetId), this.moment);
  }

  /**
   * Returns the current logical time. Call it before a query of the table, and pass the time to `found`: deliveries
   * parked after that time may be missing from the result.
   */
  look(): number {
    this.moment += 1;
    return this.moment;
  }

  /** Records the result of a query that began at `sinceMoment`. `isPart`: the query covered only some targets. */
  found(sinceMoment: number, targets: readonly TargetKey[], isPart: boolean): void {
    const keys = new Set(targets.map(({ environmentId, targetId }) => targetKey(environmentId, targetId)));
    for (const [key, notedAt] of this.notedAt)
      if (!isPart && notedAt < sinceMoment && !keys.has(key)) this.notedAt.delete(key);
    for (const key of keys) if (!this.notedAt.has(key)) this.notedAt.set(key, sinceMoment);
  }
}
