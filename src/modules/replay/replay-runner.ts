import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Database, isStorageAway } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { ReceivedStore } from '#modules/events/received.store.js';
import { Redeliveries } from '#modules/ledger/redeliveries.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { LiveLoad } from './live-load.js';
import { endOf, FORGOTTEN_MS, type ReplayJob } from './replay-job.js';
import { ReplayJobsStore } from './replay-jobs.store.js';
import { ReplayKinds } from './replay-kinds.js';
import type { ReplayPage, WorkSource } from './replay-pages.js';

/** Number of unclaimed deliveries above which a job waits before its next page, so that new events wait less. */
const WAITING_MAX = 300;
const WAIT_STEP_MS = 10;
const REST_STEP_MS = 100;
/**
 * Maximum pause of a job while there are too many unclaimed deliveries. The job then continues, because a slow receiver
 * may be the cause.
 */
const WAIT_MAX_MS = 5_000;
const FAILURES_MAX = 10;
/** Number of failures of a page after which the job fails. Does not apply while storage is unavailable. */
const REFUSALS_MAX = 5;

type Step =
  | { kind: 'more'; fromId: Id; toId: Id; enqueued: number }
  | { kind: 'worked'; enqueued: number; restMs: number }
  | { kind: 'over' }
  | { kind: 'elsewhere' };

/**
 * Runs jobs, one page per transaction. A page's deliveries and the job's progress are committed together, so a crash
 * neither repeats nor skips events. If two processes get the same job, only the first one runs it.
 */
@Injectable()
export class ReplayRunner {
  private readonly logger = new Logger(ReplayRunner.name);
  private readonly runner: Id = randomUUID();
  private stopping = false;

  constructor(
    private readonly jobs: ReplayJobsStore,
    private readonly kinds: ReplayKinds,
    private readonly received: ReceivedStore,
    private readonly redeliveries: Redeliveries,
    private readonly live: LiveLoad,
    private readonly systemEvents: SystemEvents,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Runs a job. Resolves when the job ends, another process runs it, or this process stops. Retries a failed page. */
  async run(environmentId: number, id: Id): Promise<void> {
    for (let failures = 0; !this.stopping;) {
      try {
        const step = await this.page(environmentId, id);
        if (step.kind !== 'more' && step.kind !== 'worked') return;
        failures = 0;
        if (step.kind === 'worked') await this.rest(step.restMs);
        else if (step.enqueued > 0) await this.waitForRoom(environmentId, step);
        await this.rest(await this.live.restMs(environmentId, step.enqueued));
      } catch (error) {
        failures += 1;
        this.logger.warn(`A page of a replay failed: ${(error as Error).message}`);
        if (failures >= REFUSALS_MAX && !isStorageAway(error)) return await this.giveUp(environmentId, id);
        // Stops after repeated failures. The reconciler resumes the job later.
        if (failures >= FAILURES_MAX) return;
        await rest(Math.min(100 * 2 ** failures, WAIT_MAX_MS));
      }
    }
  }

  /** Makes `run` end before the next page. */
  stop(): void {
    this.stopping = true;
  }

  private async page(environmentId: number, id: Id): Promise<Step> {
    const job = await this.jobs.find(environmentId, id);
    const work = job && this.kinds.workOf(job);
    return work ? this.worked(environmentId, id, work) : this.database.transaction(() => this.step(environmentId, id));
  }

  /** Checks the job, runs a batch of its work, and records the progress. Holds no lock while the batch runs. */
  private async worked(environmentId: number, id: Id, source: WorkSource): Promise<Step> {
    const taken = await this.database.transaction(async () => {
      const job = await this.taken(environmentId, id);
      if (!isJob(job)) return job;
      if (job.stopRequested) return this.finish(job, 'stopped', null);
      await this.jobs.update(job);
      return job;
    });
    if (!isJob(taken)) return taken;
    const done = await source.work(taken);
    return this.database.transaction(async () => {
      const job = await this.taken(environmentId, id);
      if (!isJob(job)) return job;
      if ('obstacle' in done) return this.finish(job, 'failed', done.obstacle);
      this.add(job, done);
      job.enqueued += done.enqueued;
      job.fromId = done.fromId ?? job.fromId;
      job.beforeId = done.beforeId ?? job.beforeId;
      job.erased = done.erased ?? job.erased;
      job.cancelled += done.cancelled ?? 0;
      if (done.isOver) return this.finish(job, 'completed', null);
      await this.jobs.update(job);
      return { kind: 'worked', enqueued: done.enqueued, restMs: done.restMs ?? 0 };
    });
  }

  private async taken(environmentId: number, id: Id): Promise<ReplayJob | Step> {
    const job = await this.jobs.lock(environmentId, id);
    if (job === null || !isLive(job)) return { kind: 'over' };
    if (this.isElsewhere(job)) return { kind: 'elsewhere' };
    this.begin(job);
    return job;
  }

  private async step(environmentId: number, id: Id): Promise<Step> {
    const job = await this.taken(environmentId, id);
    if (!isJob(job)) return job;
    if (job.stopRequested) return this.finish(job, 'stopped', null);
    const next = await this.kinds.next(job);
    if ('obstacle' in next) return this.finish(job, 'failed', next.obstacle);
    const { page, destinations } = next;
    if (page.deliveries.length > 0) job.enqueued += await this.redeliveries.redeliverTo(environmentId, page.deliveries);
    job.destinationsUsed = [...new Set([...job.destinationsUsed, ...destinations])];
    this.add(job, page);
    const toId = job.beforeId;
    job.beforeId = page.lastId ?? job.beforeId;
    if (!page.isFull) return this.finish(job, 'completed', null);
    await this.jobs.update(job);
    return { kind: 'more', fromId: job.beforeId, toId, enqueued: page.deliveries.length };
  }

  private add(
    job: ReplayJob,
    { scanned, replayed, skipped, excluded }: Pick<ReplayPage, 'scanned' | 'replayed' | 'skipped' | 'excluded'>,
  ): void {
    job.scanned += scanned;
    job.replayed += replayed;
    job.skipped += skipped;
    job.excluded += excluded;
  }

  /**
   * Returns whether another process runs the job. The queue may deliver a job twice if this process was unresponsive.
   */
  private isElsewhere({ runner, pageAt }: ReplayJob): boolean {
    return (
      runner !== null &&
      runner !== this.runner &&
      pageAt !== null &&
      this.clock.nowMs() - pageAt.getTime() < FORGOTTEN_MS
    );
  }

  /** Assigns the job to this process. Records an interruption if the job had another runner before. */
  private begin(job: ReplayJob): void {
    const now = this.clock.now();
    if (job.runner !== null && job.runner !== this.runner) job.resumedFrom = job.scanned;
    job.state = 'running';
    job.runner = this.runner;
    job.startedAt ??= now;
    job.pageAt = now;
  }

  private async finish(job: ReplayJob, state: 'completed' | 'stopped' | 'failed', error: string | null): Promise<Step> {
    const ended = { ...job, state, error, finishedAt: this.clock.now() };
    await this.jobs.update(ended);
    await this.systemEvents.note(endOf(ended));
    return { kind: 'over' };
  }

  private async giveUp(environmentId: number, id: Id): Promise<void> {
    const why = `Storage refused a page of it ${REFUSALS_MAX} times. The log of the worker says why.`;
    await this.database
      .transaction(async () => {
        const job = await this.jobs.lock(environmentId, id);
        if (job !== null && isLive(job) && !this.isElsewhere(job)) await this.finish(job, 'failed', why);
      })
      .catch((error: unknown) => this.logger.warn(`A replay could not be ended: ${(error as Error).message}`));
  }

  /** Pauses, but not long enough for the job to count as abandoned. Ends early when this process stops. */
  private async rest(ms: number): Promise<void> {
    const untilMs = Math.min(ms, WAIT_MAX_MS);
    for (let restedMs = 0; restedMs < untilMs && !this.stopping; restedMs += REST_STEP_MS)
      await rest(Math.min(REST_STEP_MS, untilMs - restedMs));
  }

  private async waitForRoom(environmentId: number, { fromId, toId }: { fromId: Id; toId: Id }): Promise<void> {
    for (let waitedMs = 0; waitedMs < WAIT_MAX_MS && !this.stopping; waitedMs += WAIT_STEP_MS) {
      if ((await this.received.waiting(environmentId, fromId, toId, WAITING_MAX + 1)) <= WAITING_MAX) return;
      await rest(WAIT_STEP_MS);
    }
  }
}

function isJob(taken: ReplayJob | Step): taken is ReplayJob {
  return 'replayId' in taken;
}

function isLive({ state }: ReplayJob): boolean {
  return state === 'pending' || state === 'running';
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
