import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, Loop } from 'posthorn';
import { NatsStore } from './nats.store.js';

const BATCH_MAX = 5_000;
const SWEEP_MS = 60_000;
const KEPT_MS = 30 * 24 * 3600 * 1000;

/**
 * Aggregates published messages into hourly counts. PostgreSQL is the source of truth: a lost job delays a count but
 * never changes it.
 */
@Injectable()
export class Counting implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly sweep: Loop;

  constructor(
    private readonly store: NatsStore,
    private readonly clock: Clock,
  ) {
    this.sweep = new Loop(
      'NATS counts',
      () => this.turn(),
      () => clock.nowMs(),
    );
  }

  onApplicationBootstrap(): void {
    this.sweep.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.sweep.stop();
  }

  /** Counts all messages that are not counted yet. */
  async run(): Promise<void> {
    while ((await this.store.fold(BATCH_MAX)) === BATCH_MAX);
  }

  private async turn(): Promise<{ restMs: number }> {
    await this.run();
    await this.store.forgetBefore(new Date(this.clock.nowMs() - KEPT_MS));
    return { restMs: SWEEP_MS };
  }
}
