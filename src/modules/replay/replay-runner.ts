import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Ledger } from '#modules/ledger/accept.contract.js';
import { ReceivedEvents } from '#modules/events/recovery.contract.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { Clock } from '#kernel/clock.js';
import { Database, isStorageAway } from '#kernel/database.js';
import type { Id } from '#kernel/ids.js';
import { LiveLoad } from './live-load.js';
import { endOf, FORGOTTEN_MS, type ReplayJob } from './replay-job.js';
import { ReplayJobsStore } from './replay-jobs.store.js';
import { ReplayKinds } from './replay-kinds.js';

/** The next page waits until so few of the last one are unclaimed: a replay is never a wall that live events queue behind. */
const WAITING_MAX = 300;
const WAIT_STEP_MS = 10;
const REST_STEP_MS = 100;
/** Behind a slow receiver the job goes on at this pace. */
const WAIT_MAX_MS = 5_000;
const FAILURES_MAX = 10;
/** What PostgreSQL says no to so often will not pass later either. */
const REFUSALS_MAX = 5;

/** How a page ended. */
type Step = { kind: 'more'; fromId: Id; toId: Id; enqueued: number } | { kind: 'over' } | { kind: 'elsewhere' };

/** What a runner reads and writes besides the jobs. */
@Injectable()
export class ReplayReach {
  constructor(
    readonly received: ReceivedEvents,
    readonly ledger: Ledger,
    readonly database: Database,
    readonly clock: Clock,
  ) {}
}

/**
 * Works a job off, a page a transaction: what a page enqueues and how far the job has come are committed together, so
 * a crash repeats nothing and skips nothing. Of two processes with one job, the second one leaves it to the first.
 */
@Injectable()
export class ReplayRunner {
  private readonly logger = new Logger(ReplayRunner.name);
  private readonly runner: Id = randomUUID();
  private stopping = false;

  constructor(
    private readonly jobs: ReplayJobsStore,
    private readonly kinds: ReplayKinds,
    private readonly reach: ReplayReach,
    private readonly live: LiveLoad,
    private readonly systemEvents: SystemEvents,
  ) {}

  /** Resolves when the job is over, another process has it, or this process stops; a failed page is tried again. */
  async run(environmentId: number, id: Id): Promise<void> {
    for (let failures = 0; !this.stopping; ) {
      try {
        const step = await this.reach.database.transaction(() => this.step(environmentId, id));
        if (step.kind !== 'more') return;
        failures = 0;
        await this.waitForRoom(environmentId, step);
        await this.rest(await this.live.restMs(environmentId, step.enqueued));
      } catch (error) {
        failures += 1;
        this.logger.warn(`A page of a replay failed: ${(error as Error).message}`);
        if (failures >= REFUSALS_MAX && !isStorageAway(error)) return await this.giveUp(environmentId, id);
        // What goes on failing is left to the reconciler, which comes back to it.
        if (failures >= FAILURES_MAX) return;
        await rest(Math.min(100 * 2 ** failures, WAIT_MAX_MS));
      }
    }
  }

  /** Ends between two pages. */
  stop(): void {
    this.stopping = true;
  }

  private async step(environmentId: number, id: Id): Promise<Step> {
    const job = await this.jobs.lock(environmentId, id);
    if (job === null || !isLive(job)) return { kind: 'over' };
    if (this.isElsewhere(job)) return { kind: 'elsewhere' };
    this.begin(job);
    if (job.stopRequested) return this.finish(job, 'stopped', null);
    const next = await this.kinds.next(job);
    if ('obstacle' in next) return this.finish(job, 'failed', next.obstacle);
    const { page, destinations } = next;
    if (page.deliveries.length > 0) job.enqueued += await this.reach.ledger.redeliverTo(environmentId, page.deliveries);
    job.destinationsUsed = [...new Set([...job.destinationsUsed, ...destinations])];
    job.scanned += page.scanned;
    job.replayed += page.replayed;
    job.skipped += page.skipped;
    job.excluded += page.excluded;
    const toId = job.beforeId;
    job.beforeId = page.lastId ?? job.beforeId;
    if (!page.isFull) return this.finish(job, 'completed', null);
    await this.jobs.update(job);
    return { kind: 'more', fromId: job.beforeId, toId, enqueued: page.deliveries.length };
  }

  /** The queue hands a job out again when its process was away for a while, which by then another one may have taken up. */
  private isElsewhere({ runner, pageAt }: ReplayJob): boolean {
    return runner !== null && runner !== this.runner && pageAt !== null && this.reach.clock.nowMs() - pageAt.getTime() < FORGOTTEN_MS;
  }

  /** Another runner's job is one that was interrupted. */
  private begin(job: ReplayJob): void {
    const now = this.reach.clock.now();
    if (job.runner !== null && job.runner !== this.runner) job.resumedFrom = job.scanned;
    job.state = 'running';
    job.runner = this.runner;
    job.startedAt ??= now;
    job.pageAt = now;
  }

  private async finish(job: ReplayJob, state: 'completed' | 'stopped' | 'failed', error: string | null): Promise<Step> {
    const ended = { ...job, state, error, finishedAt: this.reach.clock.now() };
    await this.jobs.update(ended);
    await this.systemEvents.note(endOf(ended));
    return { kind: 'over' };
  }

  private async giveUp(environmentId: number, id: Id): Promise<void> {
    const why = `Storage refused a page of it ${REFUSALS_MAX} times. The log of the worker says why.`;
    await this.reach.database.transaction(async () => {
      const job = await this.jobs.lock(environmentId, id);
      if (job !== null && isLive(job) && !this.isElsewhere(job)) await this.finish(job, 'failed', why);
    }).catch((error: unknown) => this.logger.warn(`A replay could not be ended: ${(error as Error).message}`));
  }

  /** Bounded, so that nobody takes the job for forgotten, and cut short when this process stops. */
  private async rest(ms: number): Promise<void> {
    const untilMs = Math.min(ms, WAIT_MAX_MS);
    for (let restedMs = 0; restedMs < untilMs && !this.stopping; restedMs += REST_STEP_MS) await rest(Math.min(REST_STEP_MS, untilMs - restedMs));
  }

  private async waitForRoom(environmentId: number, { fromId, toId }: { fromId: Id; toId: Id }): Promise<void> {
    const { received } = this.reach;
    for (let waitedMs = 0; waitedMs < WAIT_MAX_MS && !this.stopping; waitedMs += WAIT_STEP_MS) {
      if ((await received.waiting(environmentId, fromId, toId, WAITING_MAX + 1)) <= WAITING_MAX) return;
      await rest(WAIT_STEP_MS);
    }
  }
}

function isLive({ state }: ReplayJob): boolean {
  return state === 'pending' || state === 'running';
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
