import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { Config } from '#kernel/config/config.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { retryUntilAvailable } from '#kernel/database/retry-until-available.js';
import { Partitions } from './partitions.js';

const EVERY_MS = 3_600_000;
/** Pause between two created partitions. Each forces new plans for all statements on its table. */
const STEP_REST_MS = 200;
/** Before a retry. Most locks on a partition are brief (a starting process, a vacuum); only a backup takes long. */
const AGAIN_MS = { first: 2_000, max: 300_000 };

/** Maintains the ledger's partitions: creates those that are needed, and drops those of past days. */
@Injectable()
export class Retention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;
  private heldUpMs = AGAIN_MS.first;

  constructor(
    private readonly partitions: Partitions,
    private readonly config: Config,
    private readonly gate: RetentionGate,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'Retention',
      () => this.run(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    await retryUntilAvailable(() => this.partitions.ensure());
    if (this.config.isWorker) this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async run(): Promise<{ restMs: number }> {
    if (await this.partitions.makeNext()) return { restMs: STEP_REST_MS };
    if (!(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    const restMs = this.heldUpMs;
    const isHeldUp = await this.partitions.dropPassed();
    this.heldUpMs = isHeldUp ? Math.min(restMs * 2, AGAIN_MS.max) : AGAIN_MS.first;
    return { restMs: isHeldUp ? restMs : EVERY_MS };
  }
}
