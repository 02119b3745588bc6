import { Injectable } from '@nestjs/common';
import { Ledger, type DeliveryKey } from '#modules/ledger/accept.contract.js';
import { Clock } from '#kernel/clock.js';
import { Loop } from '#kernel/loop.js';
import { Gates } from './gates.js';
import { DeliveryLane } from './lane.js';
import { WorkerPresence } from './presence.js';

const CLAIM_MAX = 500;
const SWEEP_MS = 200;
const FULL_MS = 10;

/**
 * Feeds this worker's lane with what is due: retries, what no lane had room for, what a lost queue or a dead worker
 * left behind. It claims no more than the lane has room for; what may not run now is put behind its target's gate, so
 * that a target that takes nothing never stands at the head of what is due.
 */
@Injectable()
export class Dispatcher {
  readonly loop: Loop;

  constructor(
    private readonly ledger: Ledger,
    private readonly lane: DeliveryLane,
    private readonly gates: Gates,
    private readonly presence: WorkerPresence,
    clock: Clock,
  ) {
    this.loop = new Loop('Dispatcher', () => this.turn(), () => clock.nowMs());
  }

  /** Claims deliveries that another process announced; what there is no room for stays for the sweep. */
  async take(keys: readonly DeliveryKey[]): Promise<void> {
    const claimant = this.presence.claimant();
    const room = this.lane.room();
    if (claimant === null || room === 0) return;
    await this.gates.pass(await this.ledger.claimThese(claimant, keys.slice(0, room)));
  }

  private async turn(): Promise<{ restMs: number }> {
    const claimant = this.presence.claimant();
    const limit = Math.min(this.lane.room(), CLAIM_MAX);
    if (claimant === null) return { restMs: SWEEP_MS };
    if (limit === 0) return { restMs: FULL_MS };
    const claimed = await this.ledger.claimDue(claimant, limit);
    await this.gates.pass(claimed);
    return { restMs: claimed.length === limit ? 0 : SWEEP_MS };
  }
}
