import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Database } from '#kernel/database/database.js';
import { showId } from '#kernel/ids.js';
import type { ReplayJob } from './replay-job.js';
import { ReplayAnnouncer } from './replay-start.js';

export const REPLAY_QUEUE = 'replays';

export interface ReplayWork {
  environmentId: number;
  id: string;
}

/** Notifies a worker about a job. If the queue loses the notification, the reconciler finds the job. */
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
    // Notifies the workers after the commit, because they would not find the job before.
    this.database.afterCommit(() => {
      this.queue.add('replay', { environmentId, id }, options).catch((error: unknown) => {
        this.logger.warn(`The queue did not accept a replay job: ${(error as Error).message}`);
      });
    });
  }

  /** Closes the queue without waiting. The reconciler finds lost jobs. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.queue.disconnect();
  }
}
