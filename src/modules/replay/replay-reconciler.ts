import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { FORGOTTEN_MS } from './replay-job.js';
import { FORGOTTEN_IN_MS, ReplayJobsStore } from './replay-jobs.store.js';
import { ReplayRunner } from './replay-runner.js';

const EVERY_MS = 3_000;
/** In addition to the jobs of the queue. A job may also be old because it waits in the queue. */
const RUNS_MAX = 2;

/** Their process crashed, or the queue lost them. */
@Injectable()
export class ReplayReconciler implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;
  private readonly running = new Set<string>();

  constructor(
    private readonly jobs: ReplayJobsStore,
    private readonly runner: ReplayRunner,
    private readonly dueWork: DueWorkPoller,
    private readonly clock: Clock,
  ) {
    this.loop = new Loop(
      'Replay reconciler',
      () => this.turn(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    this.loop.start();
    this.dueWork.register({ name: 'replays', inMs: FORGOTTEN_IN_MS, wake: () => this.loop.wake() });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  /** Runs the jobs directly, because the queue may be the cause of the problem. */
  private async turn(): Promise<{ restMs: number }> {
    const forgotten = await this.jobs.forgotten(new Date(this.clock.nowMs() - FORGOTTEN_MS));
    for (const { environmentId, id } of forgotten) {
      if (this.running.size >= RUNS_MAX) break;
      if (this.running.has(id)) continue;
      this.running.add(id);
      void this.runner.run(environmentId, id).finally(() => this.running.delete(id));
    }
    return { restMs: forgotten.length > 0 ? EVERY_MS : this.dueWork.restMs(EVERY_MS) };
  }
}
