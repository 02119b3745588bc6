import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Database } from '#kernel/database/database.js';
import { showId } from '#kernel/ids.js';
import type { ReplayJob } from './replay-job.js';
import { ReplayAnnouncer } from './replay-start.js';

export const REPLAY_QUEUE = 'replays';

/** A replay job to work on: its environment and id. */
export interface ReplayWork {
  environmentId: number;
  id: string;
}

/** Tells a worker that there is a job. A wake-up only: one that is lost with the queue is found by the reconciler. */
@Injectable()
export class ReplayQueue extends ReplayAnnouncer implements BeforeApplicationShutdown {
  private readonly logger = new Logger(ReplayQueue.name);

  constructor(
    @InjectQueue(REPLAY_QUEUE) private readonly queue: Queue<ReplayWork>,
    private readonly database: Database,
  ) {
    super();
    queue.on('error', () => undefined);
  }

  override announce({ environmentId, id }: Pick<ReplayJob, 'environmentId' | 'id'>): void {
    const options = { jobId: showId('rpj', id), removeOnComplete: true, removeOnFail: true };
    // With an idempotency key the job is committed later than it is announced: a worker would not find it.
    this.database.afterCommit(() => {
      this.queue.add('replay', { environmentId, id }, options).catch((error: unknown) => {
        this.logger.warn(`The queue took no replay job: ${(error as Error).message}`);
      });
    });
  }

  /** By force: the reconciler finds what is lost. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.queue.disconnect();
  }
}
