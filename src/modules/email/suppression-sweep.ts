import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { Config } from '#kernel/config/config.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { SuppressionsStore } from './suppressions.store.js';

const EVERY_MS = 3_600_000;

/** Expired suppressions have no effect, even before they are deleted. */
@Injectable()
export class SuppressionSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    private readonly store: SuppressionsStore,
    private readonly config: Config,
    private readonly gate: RetentionGate,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'SuppressionSweep',
      () => this.run(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    if (this.config.isWorker) this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async run(): Promise<{ restMs: number }> {
    if (!(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    await this.store.forget();
    return { restMs: EVERY_MS };
  }
}
