import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { Clock } from '#kernel/clock.js';
import { Dispatcher } from './dispatcher.js';
import { WAKE_QUEUE, type WakeJob } from './wake.queue.js';

/** Minimum interval between log lines in milliseconds. An unavailable queue emits an error at every reconnect. */
const COMPLAINT_EVERY_MS = 10_000;

/**
 * Time for which one request to the queue waits for a job. It can be long: if a job is lost, the periodic sweep of the
 * dispatcher finds the job's deliveries sooner.
 */
const ASK_SECONDS = 60;

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

  /**
   * Closes without waiting, because an unavailable queue would delay the drain. The dispatcher finds the deliveries of
   * lost jobs.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await this.worker.close(true);
  }

  /**
   * Logs queue errors. Without a listener, they would end the process. While the queue is unavailable, the periodic
   * sweep of the dispatcher finds the deliveries.
   */
  @OnWorkerEvent('error')
  complain(error: Error): void {
    const nowMs = this.clock.nowMs();
    if (nowMs - this.complainedAtMs < COMPLAINT_EVERY_MS) return;
    this.complainedAtMs = nowMs;
    this.logger.warn(`The queue is not reachable, the sweep delivers meanwhile: ${error.message}`);
  }
}
