import { Injectable } from '@nestjs/common';
import { Targets } from '#modules/destinations/contract.js';
import { type ClaimedDelivery, Claims } from '#modules/ledger/claims.contract.js';
import { CircuitWatch } from './circuit-watch.js';
import { LocalScheduler } from './local-scheduler.js';
import { QueuedTargets } from './queued-targets.js';
import { RateLimitTokens } from './rate-limit-tokens.js';

/** Decides what of a claim may run now. */
@Injectable()
export class Gates {
  constructor(
    private readonly claims: Claims,
    private readonly lane: LocalScheduler,
    private readonly circuits: CircuitWatch,
    private readonly rateLimits: RateLimitTokens,
    private readonly targets: Targets,
    private readonly queued: QueuedTargets,
  ) {}

  /** Lets through what may run; the rest waits behind its target's gate. When this throws, what it did not come to is free again. */
  async pass(claimed: readonly ClaimedDelivery[]): Promise<void> {
    const parked: ClaimedDelivery[] = [];
    let decided = 0;
    try {
      for (const delivery of claimed) {
        if (await this.admits(delivery)) this.lane.accept(delivery);
        else {
          // At once, for those that follow it here.
          this.queued.note(delivery.environmentId, delivery.targetId);
          parked.push(delivery);
        }
        decided += 1;
      }
    } finally {
      // A claim that nobody works on would be kept for as long as this worker lives.
      await this.claims.release(claimed.slice(decided), false);
      await this.claims.release(parked, true);
      // And again: a look at the table in between has not seen them there.
      for (const { environmentId, targetId } of parked) this.queued.note(environmentId, targetId);
    }
  }

  /** Has the lane keep to a target's concurrency, and returns its limit in deliveries per second, or null. */
  async applyLimits(environmentId: number, targetId: string): Promise<number | null> {
    // One target that can't be loaded must not hold up the others: its attempt finds out and is put off.
    const target = await this.targets.ofDestination(environmentId, targetId).catch(() => null);
    if (target) this.lane.setCeiling(environmentId, targetId, target.concurrency);
    return target?.ratePerSecond ?? null;
  }

  private async admits(delivery: ClaimedDelivery): Promise<boolean> {
    const { environmentId, targetId } = delivery;
    if (!this.circuits.isClosed(environmentId, targetId)) return false;
    const rate = delivery.url === null ? await this.applyLimits(environmentId, targetId) : null;
    if (this.lane.roomFor(environmentId, targetId) <= 0) return false;
    // Earlier ones of its replay wait there. What was never sent has no order to keep.
    if (delivery.replayed && this.queued.has(environmentId, targetId)) return false;
    return rate === null || this.rateLimits.consume(environmentId, targetId, rate, 1) > 0;
  }
}
