import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';

export const COUNTS_QUEUE = 'nats-counts';

const DELAY_MS = 1_000;

/** Wakes a worker when there are messages to count. Jobs carry no data. A periodic sweep makes up for a lost job. */
@Injectable()
export class CountsQueue implements BeforeApplicationShutdown {
  private readonly logger = new Logger(CountsQueue.name);
  private isAsleep = true;

  constructor(@InjectQueue(COUNTS_QUEUE) private readonly queue: Queue) {
    queue.on('error', () => undefined);
  }

  /** Adds at most one job per second and process, regardless of the publish rate. */
  wake(): void {
    if (!this.isAsleep) return;
    this.isAsleep = false;
    setTimeout(() => (this.isAsleep = true), DELAY_MS).unref();
    this.queue
      .add('count', {}, { delay: DELAY_MS, removeOnComplete: true, removeOnFail: true })
      .catch((error: unknown) => {
        this.logger.warn(`The job could not be queued: ${(error as Error).message}`);
      });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.queue.disconnect();
  }
}
