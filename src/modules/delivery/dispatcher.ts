import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { Loop } from '#kernel/concurrency/loop.js';
import type { Id } from '#kernel/ids.js';
import { type DeliveryKey } from '#modules/ledger/claims.contract.js';
import { Claims } from '#modules/ledger/claims.js';
import { Gates } from './gates.js';
import { LocalScheduler } from './local-scheduler.js';
import { WorkerHeartbeat } from './worker-heartbeat.js';

const CLAIM_MAX = 500;
const SWEEP_MS = 200;
const FULL_MS = 10;
const BESIDE_MAX = 100;
const BESIDE_MS = 200;
const BESIDE_FACTOR = 20;

/**
 * Claims due deliveries and passes them to the local scheduler. These are retries, deliveries that exceeded the
 * capacity of the local schedulers, and deliveries that remained after a queue or a worker was lost.
 *
 * Claims no more deliveries than the scheduler can accept. Deliveries that must wait for their target are parked, so
 * they never block the head of the list of due deliveries.
 */
@Injectable()
export class Dispatcher {
  readonly loop: Loop;

  constructor(
    private readonly claims: Claims,
    private readonly scheduler: LocalScheduler,
    private readonly gates: Gates,
    private readonly presence: WorkerHeartbeat,
    private readonly dueWork: DueWorkPoller,
    private readonly clock: Clock,
  ) {
    this.loop = new Loop(
      'Dispatcher',
      () => this.turn(),
      () => clock.nowMs(),
    );
  }

  /**
   * Claims deliveries that another process announced, up to the free capacity of the scheduler. The periodic sweep
   * (`turn`) finds the rest.
   */
  async take(keys: readonly DeliveryKey[]): Promise<void> {
    const claimant = this.presence.claimant();
    const room = this.scheduler.room();
    if (claimant === null || room === 0) return;
    await this.gates.pass(await this.presence.trackClaim(claimant, this.claims.these(claimant, keys.slice(0, room))));
  }

  /**
   * While some environments use all slots, claims deliveries of the other environments. Returns the pause until the
   * next claim.
   */
  private async beside(claimant: Id): Promise<{ restMs: number }> {
    const crowding = this.scheduler.crowdedEnvironments();
    if (crowding.length === 0) return { restMs: FULL_MS };
    const startedMs = this.clock.monotonicMs();
    await this.gates.pass(
      await this.presence.trackClaim(claimant, this.claims.dueBeside(claimant, crowding, BESIDE_MAX)),
    );
    // The query reads all due deliveries of the other environments, so it can be slow. The pause before the next query
    // grows with its duration.
    return { restMs: Math.max(BESIDE_MS, (this.clock.monotonicMs() - startedMs) * BESIDE_FACTOR) };
  }

  private async turn(): Promise<{ restMs: number }> {
    const claimant = this.presence.claimant();
    const limit = Math.min(this.scheduler.room(), CLAIM_MAX);
    if (claimant === null) return { restMs: SWEEP_MS };
    if (limit === 0) return this.beside(claimant);
    const claimed = await this.presence.trackClaim(claimant, this.claims.due(claimant, limit));
    await this.gates.pass(claimed);
    if (this.claims.mayLeaveMore(claimed, limit)) return { restMs: 0 };
    // If this claim found due deliveries, more are likely to be due, so the next claim follows soon.
    return { restMs: claimed.length > 0 ? SWEEP_MS : this.dueWork.restMs(SWEEP_MS) };
  }
}
