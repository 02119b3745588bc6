import { Injectable } from '@nestjs/common';
import { Targets } from '#modules/destinations/targets.js';
import { type ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import { Claims } from '#modules/ledger/claims.js';
import { CircuitWatch } from './circuit-watch.js';
import { LocalScheduler } from './local-scheduler.js';
import { QueuedTargets } from './queued-targets.js';
import { RateLimitTokens } from './rate-limit-tokens.js';

@Injectable()
export class Gates {
  constructor(
    private readonly claims: Claims,
    private readonly scheduler: LocalScheduler,
    private readonly circuits: CircuitWatch,
    private readonly rateLimits: RateLimitTokens,
    private readonly targets: Targets,
    private readonly queued: QueuedTargets,
  ) {}

  /**
   * Passes deliveries to the scheduler. Parks those that must wait for the circuit breaker, the concurrency limit or
   * the rate limit of their target. On an error, releases the remaining claims.
   */
  async pass(claimed: readonly ClaimedDelivery[]): Promise<void> {
    const parked: ClaimedDelivery[] = [];
    let decided = 0;
    try {
      for (const delivery of claimed) {
        if (await this.admits(delivery)) this.scheduler.accept(delivery);
        else {
          // Records that the target has parked deliveries. Later replayed deliveries of this batch are then parked too.
          this.queued.note(delivery.environmentId, delivery.targetId);
          parked.push(delivery);
        }
        decided += 1;
      }
    } finally {
      // Releases the deliveries that were not handled because of an error. Otherwise, no worker could deliver them
      // until this worker exits.
      await this.claims.release(claimed.slice(decided), false);
      await this.claims.release(parked, true);
      // Records again that the targets have parked deliveries. A query that ran before the release did not find these
      // deliveries, so the targets may have been removed from `queued`.
      for (const { environmentId, targetId } of parked) this.queued.note(environmentId, targetId);
    }
  }

  /** Sets the target's concurrency limit. Returns the target's limit in deliveries per second, or null. */
  async applyLimits(environmentId: number, targetId: string): Promise<number | null> {
    // A target that cannot be loaded must not block other targets. Its own attempt fails and is postponed.
    const target = await this.targets.ofDestination(environmentId, targetId).catch(() => null);
    if (target) this.scheduler.setCeiling(environmentId, targetId, target.concurrency);
    return target?.ratePerSecond ?? null;
  }

  private async admits(delivery: ClaimedDelivery): Promise<boolean> {
    const { environmentId, targetId } = delivery;
    if (!this.circuits.isClosed(environmentId, targetId)) return false;
    const rate = delivery.url === null ? await this.applyLimits(environmentId, targetId) : null;
    if (this.scheduler.roomFor(environmentId, targetId) <= 0) return false;
    // Parks a replayed delivery behind parked deliveries of the same replay. Only replayed deliveries must keep their
    // order.
    if (delivery.replayed && this.queued.has(environmentId, targetId)) return false;
    return rate === null || this.rateLimits.consume(environmentId, targetId, rate, 1) > 0;
  }
}
