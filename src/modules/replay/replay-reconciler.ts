import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { FORGOTTEN_MS } from './replay-job.js';
import { FORGOTTEN_IN_MS, ReplayJobsStore } from './replay-jobs.store.js';
import { ReplayRunner } from './replay-runner.js';

const EVERY_MS = 3_000;
/**
 * Maximum number of abandoned jobs that run at the same time. A job that still waits in the queue also counts as
 * abandoned.
 */
const RUNS_MAX = 2;

/** Resumes abandoned jobs. Their process crashed, or the queue lost them. */
@Injectable()
export class ReplayReconciler {
  private readonly running = new Set<string>();

  constructor(
    private readonly jobs: ReplayJobsStore,
    private readonly runner: ReplayRunner,
    private readonly clock: Clock,
  ) {}

  /** Runs abandoned jobs without the queue, because a failure of the queue may be the reason why they stopped. */
  @Every(EVERY_MS, { name: 'Replay reconciler', dueWork: { name: 'replays', inMs: FORGOTTEN_IN_MS } })
  async resume(): Promise<LoopDelay | undefined> {
    const forgotten = await this.jobs.forgotten(new Date(this.clock.nowMs() - FORGOTTEN_MS));
    for (const { environmentId, id } of forgotten) {
      if (this.running.size >= RUNS_MAX) break;
      if (this.running.has(id)) continue;
      this.running.add(id);
      void this.runner.run(environmentId, id).finally(() => this.running.delete(id));
    }
    return forgotten.length > 0 ? { restMs: EVERY_MS } : undefined;
  }
}
