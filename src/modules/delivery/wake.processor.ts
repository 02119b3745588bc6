import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { Clock } from '#kernel/clock.js';
import { Dispatcher } from './dispatcher.js';
import { WAKE_QUEUE, type WakeJob } from './wake.queue.js';

/** An absent queue reports itself with every reconnect. */
const COMPLAINT_EVERY_MS = 10_000;

/** Seconds until the queue is asked without having been announced anything: the sweep finds sooner what it has lost. */
const ASK_SECONDS = 60;

/** Takes wake-ups of other processes. */
@Processor(WAKE_QUEUE, { concurrency: 4, runRetryDelay: 1_000, drainDelay: ASK_SECONDS })
export class WakeProcessor extends WorkerHost implements BeforeApplicationShutdown {
  private readonly logger = new Logger(WakeProcessor.name);
  private complainedAtMs = 0;

  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ data }: Job<WakeJob>): Promise<void> {
    await this.dispatcher.take(
      data.keys.map(([environmentId, eventId, ordinal]) => ({ environmentId, eventId, ordinal })),
    );
  }

  /** By force: a wake-up that is cut short is found by the sweep, and a queue that is away would hold up the drain. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.worker.close(true);
  }

  /** Without a listener an error of the queue would end the process; the sweep delivers meanwhile. */
  @OnWorkerEvent('error')
  complain(error: Error): void {
    const nowMs = this.clock.nowMs();
    if (nowMs - this.complainedAtMs < COMPLAINT_EVERY_MS) return;
    this.complainedAtMs = nowMs;
    this.logger.warn(`The queue is away, the sweep delivers meanwhile: ${error.message}`);
  }
}
