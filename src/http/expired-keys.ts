import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { IdempotencyStore } from './idempotency.store.js';

const EVERY_MS = 60_000;
const STEP = 5_000;

/** In batches. Every process does this, and none waits for another. */
@Injectable()
export class ExpiredKeys implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    private readonly idempotency: IdempotencyStore,
    private readonly gate: RetentionGate,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'ExpiredKeys',
      () => this.purge(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async purge(): Promise<{ restMs: number }> {
    if (!(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    return { restMs: (await this.idempotency.purgeExpired(STEP)) === STEP ? 0 : EVERY_MS };
  }
}
