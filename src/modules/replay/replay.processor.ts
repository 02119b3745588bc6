import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { Clock } from '#kernel/clock.js';
import { REPLAY_QUEUE, type ReplayWork } from './replay.queue.js';
import { ReplayRunner } from './replay-runner.js';

const COMPLAINT_EVERY_MS = 10_000;

/** Polling interval of the queue in seconds, in case notifications are lost. The reconciler finds lost jobs sooner. */
const ASK_SECONDS = 20;

@Processor(REPLAY_QUEUE, { concurrency: 2, runRetryDelay: 1_000, drainDelay: ASK_SECONDS })
export class ReplayProcessor extends WorkerHost implements BeforeApplicationShutdown {
  private readonly logger = new Logger(ReplayProcessor.name);
  private complainedAtMs = 0;

  constructor(
    private readonly runner: ReplayRunner,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ data }: Job<ReplayWork>): Promise<void> {
    await this.runner.run(data.environmentId, data.id);
  }

  /** Stops after the current page. The reconciler of another process then resumes the job. */
  async beforeApplicationShutdown(): Promise<void> {
    this.runner.stop();
    await this.worker.close(true);
  }

  /** Logs queue errors. Without a listener, an error event would end the process. */
  @OnWorkerEvent('error')
  complain(error: Error): void {
    const nowMs = this.clock.nowMs();
    if (nowMs - this.complainedAtMs < COMPLAINT_EVERY_MS) return;
    this.complainedAtMs = nowMs;
    this.logger.warn(`The queue of replays is not available, the reconciler runs the jobs meanwhile: ${error.message}`);
  }
}
