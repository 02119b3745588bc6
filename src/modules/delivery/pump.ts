import { Injectable } from '@nestjs/common';
import { Claims } from '#modules/ledger/claims.contract.js';
import { Clock } from '#kernel/clock.js';
import type { Id } from '#kernel/ids.js';
import { Loop } from '#kernel/loop.js';
import { CircuitWatch } from './circuit-watch.js';
import { Gates } from './gates.js';
import { DeliveryLane } from './lane.js';
import { Permits } from './permits.js';
import { WorkerPresence } from './presence.js';

const TICK_MS = 50;
const IDLE_MS = 200;
const CLAIM_MAX = 500;

/**
 * Lets deliveries out from behind their targets' gates, as many as the target takes: a probe while its circuit is
 * open, what its rate permits, a rising number after it came back, never more than its window holds. The targets are
 * found in the table itself, so none is forgotten.
 */
@Injectable()
export class Pump {
  readonly loop: Loop;

  constructor(
    private readonly claims: Claims,
    private readonly lane: DeliveryLane,
    private readonly gates: Gates,
    private readonly circuits: CircuitWatch,
    private readonly permits: Permits,
    private readonly presence: WorkerPresence,
    private readonly clock: Clock,
  ) {
    this.loop = new Loop('Pump', () => this.turn(), () => clock.nowMs());
  }

  private async turn(): Promise<{ restMs: number }> {
    const claimant = this.presence.claimant();
    if (claimant === null) return { restMs: IDLE_MS };
    const targets = await this.claims.parkedTargets();
    // From a random start, so that with many gates and little room none is always the last.
    const start = Math.floor(this.clock.random() * targets.length);
    for (const { environmentId, targetId } of [...targets.slice(start), ...targets.slice(0, start)]) {
      await this.release(claimant, environmentId, targetId);
    }
    return { restMs: targets.length > 0 ? TICK_MS : IDLE_MS };
  }

  private async release(claimant: Id, environmentId: number, targetId: Id): Promise<void> {
    if (!this.circuits.isClosed(environmentId, targetId)) return this.probe(claimant, environmentId, targetId);
    const rate = await this.gates.applyLimits(environmentId, targetId);
    const room = Math.min(this.lane.room(environmentId), this.lane.roomFor(environmentId, targetId), this.drain(environmentId, targetId), CLAIM_MAX);
    if (room < 1) return;
    const permitted = rate === null ? room : this.permits.spend(environmentId, targetId, rate, room);
    if (permitted < 1) return;
    for (const delivery of await this.claims.parked(claimant, environmentId, targetId, permitted)) this.lane.accept(delivery);
  }

  private async probe(claimant: Id, environmentId: number, targetId: Id): Promise<void> {
    if (!this.circuits.probeIsDue(environmentId, targetId)) return;
    if (!(await this.circuits.takeProbe(environmentId, targetId))) return;
    for (const delivery of await this.claims.parked(claimant, environmentId, targetId, 1)) this.lane.accept(delivery, true);
  }

  private drain(environmentId: number, targetId: Id): number {
    const perSecond = this.circuits.drainPerSecond(environmentId, targetId);
    return perSecond === null ? CLAIM_MAX : Math.max(1, Math.floor((perSecond * TICK_MS) / 1000));
  }
}
