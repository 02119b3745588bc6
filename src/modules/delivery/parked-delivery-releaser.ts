import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { Loop } from '#kernel/concurrency/loop.js';
import type { Id } from '#kernel/ids.js';
import { type TargetKey } from '#modules/ledger/claims.contract.js';
import { Claims } from '#modules/ledger/claims.js';
import { CircuitWatch } from './circuit-watch.js';
import { Gates } from './gates.js';
import { LocalScheduler } from './local-scheduler.js';
import { QueuedTargets } from './queued-targets.js';
import { RateLimitTokens } from './rate-limit-tokens.js';
import { WorkerHeartbeat } from './worker-heartbeat.js';

const TICK_MS = 50;
const IDLE_MS = 200;
/** Pause in milliseconds before the next iteration if a target may need more deliveries before the next tick. */
const STARVED_MS = 10;
/** Maximum number of targets processed per iteration. */
const TARGETS_MAX = 1_000;
const CLAIM_MAX = 500;

/**
 * Releases parked deliveries, which wait for the circuit breaker, the rate limit or the concurrency window of their
 * target. The rate is one probe while the circuit is open, an increasing rate after recovery, and otherwise the
 * configured rate. It never exceeds the concurrency window. Reads the targets from the table, so that none is missed.
 */
@Injectable()
export class ParkedDeliveryReleaser {
  readonly loop: Loop;
  private tickedMs = -Infinity;
  private isSooner = false;
  private isAtRest = false;
  private isStirred = false;

  constructor(
    private readonly claims: Claims,
    private readonly scheduler: LocalScheduler,
    private readonly gates: Gates,
    private readonly circuits: CircuitWatch,
    private readonly rateLimits: RateLimitTokens,
    private readonly presence: WorkerHeartbeat,
    private readonly queued: QueuedTargets,
    private readonly dueWork: DueWorkPoller,
    private readonly clock: Clock,
  ) {
    this.loop = new Loop(
      'Pump',
      () => this.turn(),
      () => clock.nowMs(),
    );
  }

  /**
   * Starts an iteration, because deliveries were parked to wait for their target. If an iteration is already running,
   * the next one follows soon.
   */
  wake(): void {
    this.isStirred = true;
    if (!this.isAtRest) return;
    this.isAtRest = false;
    this.loop.wake();
  }

  private async turn(): Promise<{ restMs: number }> {
    this.isAtRest = false;
    this.isStirred = false;
    const claimant = this.presence.claimant();
    if (claimant === null) return { restMs: IDLE_MS };
    const moment = this.queued.look();
    const targets = await this.claims.parkedTargets();
    this.queued.found(moment, targets, targets.length >= TARGETS_MAX);
    const isTick = !this.isSooner || this.clock.monotonicMs() - this.tickedMs >= TICK_MS;
    if (isTick) this.tickedMs = this.clock.monotonicMs();
    let isAnyStarved = false;
    // Starts with a random target. If it always started with the same target and little capacity were free, the last
    // targets would never get any.
    const start = Math.floor(this.clock.random() * targets.length);
    for (const { environmentId, targetId } of [...targets.slice(start), ...targets.slice(0, start)]) {
      if (await this.release(claimant, { environmentId, targetId }, isTick)) isAnyStarved = true;
    }
    this.isSooner = isAnyStarved;
    if (isAnyStarved) return { restMs: STARVED_MS };
    if (targets.length > 0) return { restMs: TICK_MS };
    // Deliveries may have been parked after the query, so the next iteration starts soon.
    if (this.isStirred) return { restMs: STARVED_MS };
    this.isAtRest = true;
    return { restMs: this.dueWork.restMs(IDLE_MS) };
  }

  /** Releases parked deliveries of a target. Returns true if the target may need more of them before the next tick. */
  private async release(claimant: Id, { environmentId, targetId }: TargetKey, isTick: boolean): Promise<boolean> {
    if (!this.circuits.isClosed(environmentId, targetId)) {
      await this.probe(claimant, environmentId, targetId);
      return false;
    }
    const isDraining = this.circuits.drainPerSecond(environmentId, targetId) !== null;
    // After a recovery, the limit is a number of deliveries per tick. Iterations between two ticks must not release
    // more.
    if (isDraining && !isTick) return false;
    const rate = await this.gates.applyLimits(environmentId, targetId);
    const room = Math.min(
      this.scheduler.room(environmentId),
      this.scheduler.roomFor(environmentId, targetId),
      this.drain(environmentId, targetId),
      CLAIM_MAX,
    );
    if (room < 1) return false;
    const permitted = rate === null ? room : this.rateLimits.consume(environmentId, targetId, rate, room);
    if (permitted < 1) return false;
    const isStarved = this.scheduler.isStarved(environmentId, targetId);
    const released = await this.presence.trackClaim(
      claimant,
      this.claims.parked(claimant, environmentId, targetId, permitted),
    );
    for (const delivery of released) this.scheduler.accept(delivery);
    // Gives back unused tokens: the claim returns fewer deliveries than permitted if fewer are parked, or if their
    // payloads are large.
    if (rate !== null) this.rateLimits.giveBack(environmentId, targetId, permitted - released.length);
    return isStarved && !isDraining && rate === null && released.length === permitted;
  }

  private async probe(claimant: Id, environmentId: number, targetId: Id): Promise<void> {
    if (!this.circuits.probeIsDue(environmentId, targetId)) return;
    if (!(await this.circuits.takeProbe(environmentId, targetId))) return;
    for (const delivery of await this.presence.trackClaim(
      claimant,
      this.claims.parked(claimant, environmentId, targetId, 1),
    ))
      this.scheduler.accept(delivery, true);
  }

  private drain(environmentId: number, targetId: Id): number {
    const perSecond = this.circuits.drainPerSecond(environmentId, targetId);
    return perSecond === null ? CLAIM_MAX : Math.max(1, Math.floor((perSecond * TICK_MS) / 1000));
  }
}
