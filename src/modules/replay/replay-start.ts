import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import type { NewReplayJob, ReplayJob } from './replay-job.js';
import { ReplayJobsStore } from './replay-jobs.store.js';

export abstract class ReplayAnnouncer {
  abstract announce(job: Pick<ReplayJob, 'environmentId' | 'id'>): void;
}

/** Starts jobs. A job is stored before the workers are notified. */
@Injectable()
export class ReplayStart {
  constructor(
    private readonly jobs: ReplayJobsStore,
    private readonly announcer: ReplayAnnouncer,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** Starts a job. Throws 409 while another job of its endpoint, destination or application is unfinished. */
  async start(asked: Omit<NewReplayJob, 'id' | 'replayId' | 'createdAt'>): Promise<ReplayJob> {
    const job = await this.jobs.insert({
      ...asked,
      id: this.ids.next(),
      replayId: this.ids.next(),
      createdAt: this.clock.now(),
    });
    this.announcer.announce(job);
    return job;
  }
}
