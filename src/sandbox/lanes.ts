import type { CallEnd, CallLimits } from './call-thread.js';
import type { CpuBudget } from './cpu-budget.js';
import { Deadline } from './deadline.js';
import { type JobEnd, type LaneThread, type LaneUse, ThreadSlot } from './lane.js';

/** What a lane runs: it gives up as `overrun` after `sliceMs` of CPU time, if that is a number. */
export interface Sliced {
  sliceMs: number | null;
  /** When it gives up in any case, by `monotonicMs`. */
  deadlineMs?: number;
}

/** Whose call it is: organizations take turns, and within one its endpoints do. */
export interface Owner {
  organization: string;
  endpoint: string;
}

export interface LanesOptions<C, A extends object> {
  /** Quick threads, two at least; they start when they are first needed. */
  quickMax: number;
  slowMax: number;
  /** A thread that leaves so much to everything else in the process (see nice(1)). */
  startThread: (niceness: number) => Promise<LaneThread<C, A | 'overrun'>>;
  /** Is told of calls on slow threads, which have its cells. */
  pace?: CpuBudget | undefined;
  /** The time by the clock that a call may take, as a multiple of its CPU time. */
  wallFactor?: number;
}

/** What takes longer is begun again among the slow ones: it can do nothing outside, so that nothing happens twice. */
const SLICE_MS = 50;
/** The same for an endpoint whose last call was slow. */
const SLICE_MS_OF_SLOW = 10;
/** How long after its slice a call that heeds no interrupt (a long built-in) may go on. */
const SLICE_GRACE_MS = 50;
const GRACE_MS = 250;
/** By the clock a call may take so many times its CPU time, and so much besides for its wait: who waits for the answer is bounded by it. */
const WALL_FACTOR = 2;
const WALL_EXTRA_MS = 2_000;
const SLOW_PER_ORGANIZATION_MAX = 3;
const SLOW_PER_ENDPOINT_MAX = 2;
const SLOW_IDLE_MS_MAX = 30_000;
const SLOW_NICENESS = 10;
const SLOW_ENDPOINTS_MAX = 10_000;

/**
 * Two lanes of threads for calls that nobody knows the length of. Each begins on one of a few quick threads, of which
 * one organization never has all; what is not done there after 50 ms is begun again on a slow one, of which there are
 * more, and which the machine gives less. docs/adr/0017-slow-code-moves-aside.md
 */
export class ThreadSlots<C extends Sliced, A extends object> {
  private readonly quick: ThreadSlot<C, A | 'overrun'>;
  private readonly slow: ThreadSlot<C, A | 'overrun'>;
  /** Endpoints whose last call was slow, the latest last. */
  private readonly slowEndpoints = new Set<string>();
  private closed = false;

  private readonly wallFactor: number;

  constructor({ quickMax, slowMax, startThread, pace, wallFactor = WALL_FACTOR }: LanesOptions<C, A>) {
    this.wallFactor = wallFactor;
    this.quick = new ThreadSlot({
      threadsMax: quickMax,
      hasStandby: true,
      admits: (use, organization) => use.ofOrganization(organization) < quickMax - 1,
      startThread: () => startThread(0),
    });
    this.slow = new ThreadSlot({
      threadsMax: slowMax,
      admits: (use, organization, endpoint) => admitsSlow(use, slowMax, organization, endpoint),
      startThread: async () => paced(await startThread(SLOW_NICENESS), pace),
      idleMsMax: SLOW_IDLE_MS_MAX,
    });
  }

  /** Makes the call with at most `timeoutMs` of CPU time, and within `wallMsFor(timeoutMs)`. `bytes` is what it holds while it waits. Never rejects. */
  async run(owner: Owner, call: Omit<C, 'sliceMs'>, timeoutMs: number, bytes: number): Promise<JobEnd<A>> {
    const job = { organization: owner.organization, endpoint: owner.endpoint, bytes };
    const key = `${owner.organization}\0${owner.endpoint}`;
    const sliceMs = this.slowEndpoints.has(key) ? SLICE_MS_OF_SLOW : SLICE_MS;
    const deadline = new Deadline(wallMsFor(timeoutMs, this.wallFactor));
    const limitsOf = (cpuMs: number, graceMs: number): CallLimits => ({
      cpuMsMax: cpuMs + graceMs,
      wallMsMax: Infinity,
      deadline,
    });
    if (timeoutMs <= sliceMs)
      return finalOf(
        await this.quick.run({ ...job, call: sliced<C>(call, null), limits: limitsOf(timeoutMs, GRACE_MS) }),
        timeoutMs,
      );
    const first = await this.quick.run({
      ...job,
      call: sliced<C>(call, sliceMs),
      limits: limitsOf(sliceMs, SLICE_GRACE_MS),
    });
    this.remember(key, isOverrun(first));
    if (!isOverrun(first) || this.closed) return finalOf(first, timeoutMs);
    return finalOf(
      await this.slow.run({ ...job, call: sliced<C>(call, null), limits: limitsOf(timeoutMs, GRACE_MS) }),
      timeoutMs,
    );
  }

  /** For metrics. `slow` of the running ones are on slow threads; `restarts` counts threads that had to be replaced. */
  figures(): { running: number; slow: number; queued: number; workers: number; restarts: number } {
    const { quick, slow } = this;
    return {
      running: quick.running + slow.running,
      slow: slow.running,
      queued: quick.queued + slow.queued,
      workers: quick.threadCount + slow.threadCount,
      restarts: quick.restarts + slow.restarts,
    };
  }

  /** Ends what runs (`stopped`) and what waits (`busy`), as every later call. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([this.quick.close(), this.slow.close()]);
  }

  private remember(key: string, isSlow: boolean): void {
    this.slowEndpoints.delete(key);
    if (!isSlow) return;
    this.slowEndpoints.add(key);
    const [oldest] = this.slowEndpoints;
    if (this.slowEndpoints.size > SLOW_ENDPOINTS_MAX && oldest !== undefined) this.slowEndpoints.delete(oldest);
  }
}

/** What a thread gets of the pace: quick ones do not yield. */
export const cellsFor = (niceness: number, pace: CpuBudget | undefined): Int32Array | null =>
  niceness > 0 ? (pace?.cells ?? null) : null;

/** A slow thread whose calls are told to the pace. */
function paced<C, A>(thread: LaneThread<C, A>, pace: CpuBudget | undefined): LaneThread<C, A> {
  if (pace === undefined) return thread;
  return {
    ready: thread.ready,
    get isAlive() {
      return thread.isAlive;
    },
    run: async (call, limits): Promise<CallEnd<A>> => {
      pace.onStart();
      try {
        return await thread.run(call, limits);
      } finally {
        pace.onEnd();
      }
    },
    stop: () => thread.stop(),
  };
}

/** The first of an organization always has its turn; more of them only while half of the threads stay free for others. */
function admitsSlow(use: LaneUse, slowMax: number, organization: string, endpoint: string): boolean {
  const others = use.ofOrganization(organization);
  if (others === 0) return true;
  const isFree = slowMax - use.running > slowMax / 2;
  return isFree && others < SLOW_PER_ORGANIZATION_MAX && use.ofEndpoint(organization, endpoint) < SLOW_PER_ENDPOINT_MAX;
}

/** Also where the thread had to be ended: it may take its time elsewhere. */
function isOverrun(end: JobEnd<object | string>): boolean {
  return end.answer === null ? end.why === 'timeout' : end.answer === 'overrun';
}

/** Where nothing else can be tried: what overran then was cut off by the end of the service, and what had its CPU time is late by itself. */
function finalOf<A extends object>(end: JobEnd<A | 'overrun'>, timeoutMs: number): JobEnd<A> {
  if (end.answer === 'overrun') return { answer: null, why: 'stopped', cpuMs: end.cpuMs };
  if ('why' in end && end.why === 'starved' && end.cpuMs >= timeoutMs)
    return { answer: null, why: 'timeout', cpuMs: end.cpuMs };
  return end as JobEnd<A>;
}

const sliced = <C extends Sliced>(call: Omit<C, 'sliceMs'>, sliceMs: number | null): C =>
  ({ ...call, sliceMs }) as unknown as C;

/** Returns the milliseconds by the clock within which a call with so much CPU time ends, waits and a second begin included. */
export const wallMsFor = (timeoutMs: number, factor = WALL_FACTOR): number => factor * timeoutMs + WALL_EXTRA_MS;
