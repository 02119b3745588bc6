import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';

export const COUNTS_QUEUE = 'nats-counts';

const DELAY_MS = 1_000;

/** Tells a worker that there is something to count: a wake-up only. One that is lost is made up for by the sweep. */
@Injectable()
export class CountsQueue implements BeforeApplicationShutdown {
  private readonly logger = new Logger(CountsQueue.name);
  private isAsleep = true;

  constructor(@InjectQueue(COUNTS_QUEUE) private readonly queue: Queue) {
    queue.on('error', () => undefined);
  }

  /** At most one job a second from each process, whatever is published. */
  wake(): void {
    if (!this.isAsleep) return;
    this.isAsleep = false;
    setTimeout(() => (this.isAsleep = true), DELAY_MS).unref();
    this.queue
      .add('count', {}, { delay: DELAY_MS, removeOnComplete: true, removeOnFail: true })
      .catch((error: unknown) => {
        this.logger.warn(`The queue took no job: ${(error as Error).message}`);
      });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.queue.disconnect();
  }
}
