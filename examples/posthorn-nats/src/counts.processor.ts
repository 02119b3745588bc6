import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Logger } from '@nestjs/common';
import { Counting } from './counting.js';
import { COUNTS_QUEUE } from './counts.queue.js';

/** Processes the wake-up jobs. */
@Processor(COUNTS_QUEUE)
export class CountsProcessor extends WorkerHost implements BeforeApplicationShutdown {
  private readonly logger = new Logger(CountsProcessor.name);

  constructor(private readonly counting: Counting) {
    super();
  }

  async process(): Promise<void> {
    await this.counting.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.worker.close(true);
  }

  /** Without a listener, an error of the queue would end the process. */
  @OnWorkerEvent('error')
  complain(error: Error): void {
    this.logger.debug(`The queue of counts is unavailable: ${error.message}`);
  }
}
