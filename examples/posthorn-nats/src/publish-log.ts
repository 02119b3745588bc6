import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { CountsQueue } from './counts.queue.js';
import { NatsStore, type Publish } from './nats.store.js';

const WAITING_MAX = 10_000;
const BATCH_MAX = 1_000;

/**
 * Records published messages without delaying deliveries. Messages that arrive while one batch is written form the next
 * batch. While storage is unavailable, messages are not counted, but their deliveries succeed.
 */
@Injectable()
export class PublishLog implements OnApplicationShutdown {
  private readonly logger = new Logger(PublishLog.name);
  private readonly waiting: Publish[] = [];
  private writing: Promise<void> | null = null;

  constructor(
    private readonly store: NatsStore,
    private readonly queue: CountsQueue,
  ) {}

  note(publish: Publish): void {
    if (this.waiting.length < WAITING_MAX) this.waiting.push(publish);
    this.writing ??= this.write();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.writing;
  }

  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, BATCH_MAX);
      try {
        await this.store.append(batch);
        this.queue.wake();
      } catch (error) {
        this.logger.warn(`${batch.length} messages were not counted: ${(error as Error).message}`);
      }
    }
    this.writing = null;
  }
}
