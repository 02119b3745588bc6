import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { SIGNALS_IN_MS } from './batches.store.js';
import { RECIPIENT_EVENT_TYPES } from './contract.js';
import { Notifier } from './notifier.js';
import { SystemEventsMetrics } from './system-events.metrics.js';
import { WaitingSignals } from './waiting-signals.js';

const REST_MS = 1_000;

/** Background job that sends system events. Runs in every process that delivers. */
@Injectable()
export class NotifierLoop {
  constructor(
    private readonly notifier: Notifier,
    private readonly signals: WaitingSignals,
    private readonly metrics: SystemEventsMetrics,
  ) {}

  @Every(REST_MS, { name: 'System events', runsOn: 'worker', dueWork: { name: 'signals', inMs: SIGNALS_IN_MS } })
  async notify(): Promise<LoopDelay | undefined> {
    await this.signals.tidy();
    const notified = await this.notifier.notifyReady();
    for (const { type } of notified) this.metrics.notified(type);
    // More signals about recipients may wait than fit into one batch.
    return notified.some(({ type }) => RECIPIENT_EVENT_TYPES.includes(type)) ? { restMs: 0 } : undefined;
  }
}
