import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { retryUntilAvailable } from '#kernel/database/retry-until-available.js';
import { Partitions } from './partitions.js';

const EVERY_MS = 3_600_000;
/** Pause between creating two partitions. Each new partition forces new plans for all statements on its table. */
const STEP_REST_MS = 200;
/**
 * First and maximum delay before a retry if a partition was locked. Most locks are brief, but a backup holds its lock
 * for long.
 */
const AGAIN_MS = { first: 2_000, max: 300_000 };

/** Creates the partitions that the ledger needs, and drops those of past days. */
@Injectable()
export class Retention implements OnApplicationBootstrap {
  private heldUpMs = AGAIN_MS.first;

  constructor(
    private readonly partitions: Partitions,
    private readonly gate: RetentionGate,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await retryUntilAvailable(() => this.partitions.ensure());
  }

  @Every(EVERY_MS, { name: 'Retention', runsOn: 'worker' })
  async maintain(): Promise<LoopDelay> {
    if (await this.partitions.makeNext()) return { restMs: STEP_REST_MS };
    if (!(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    const restMs = this.heldUpMs;
    const isHeldUp = await this.partitions.dropPassed();
    this.heldUpMs = isHeldUp ? Math.min(restMs * 2, AGAIN_MS.max) : AGAIN_MS.first;
    return { restMs: isHeldUp ? restMs : EVERY_MS };
  }
}
