import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { HOUSEKEEPING, Loop, type LoopDelay } from '#kernel/concurrency/loop.js';
import { Config } from '#kernel/config/config.js';
import { SIGNALS_IN_MS } from './batches.store.js';
import { Notifier } from './notifier.js';
import { SystemEventsMetrics } from './system-events.metrics.js';
import { WaitingSignals } from './waiting-signals.js';

const REST_MS = 1_000;

/** Runs in every process that delivers. */
@Injectable()
export class NotifierLoop implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    private readonly notifier: Notifier,
    private readonly signals: WaitingSignals,
    private readonly metrics: SystemEventsMetrics,
    private readonly config: Config,
    private readonly dueWork: DueWorkPoller,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'System events',
      () => this.turn(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    if (!this.config.isWorker) return;
    this.loop.start();
    this.dueWork.register({ name: 'signals', inMs: SIGNALS_IN_MS, wake: () => this.loop.wake() });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async turn(): Promise<LoopDelay> {
    await this.signals.tidy();
    for (const { type } of await this.notifier.notifyReady()) this.metrics.notified(type);
    return { restMs: this.dueWork.restMs(REST_MS) };
  }
}
