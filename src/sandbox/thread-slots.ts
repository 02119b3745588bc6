import type { CallEnd, CallLimits } from './call-thread.js';
import type { CpuBudget } from './cpu-budget.js';
import { Deadline } from './deadline.js';
import { type JobEnd, type SlotThread, ThreadSlot, type ThreadUse } from './thread-slot.js';

/** A call that ends as `overrun` after `sliceMs` of CPU time. A `sliceMs` of null means no limit. */
export interface Sliced {
  sliceMs: number | null;
  /** Deadline on the clock of `monotonicMs`. */
  deadlineMs?: number;
}

/** Owner of a call. Organizations take turns, and so do the endpoints within an organization. */
export interface Owner {
  organization: string;
  endpoint: string;
}

export interface ThreadSlotsOptions<C, A extends object> {
  /** Maximum number of threads for quick calls, at least two. A thread starts on first use. */
  quickMax: number;
  slowMax: number;
  /** Starts a thread. `niceness` (see nice(1)) is relative to the rest of the process. */
  startThread: (niceness: number) => Promise<SlotThread<C, A | 'overrun'>>;
  /** CPU budget of the threads for slow calls, which they read from shared memory (`cells`). */
  pace?: CpuBudget | undefined;
  /** Wall-clock limit of a call as a multiple of its CPU time. */
  wallFactor?: number;
}

/**
 * CPU time after which a call starts again on a thread for slow calls. This is safe, because guest code has no side
 * effects.
 */
const SLICE_MS = 50;
/** CPU time after which a call starts again on a thread for slow calls, if the last call of its endpoint was slow. */
const SLICE_MS_OF_SLOW = 10;
/**
 * Time after the CPU slice (`SLICE_MS`) until a call that ignores interrupts (such as a long built-in) is terminated.
 */
const SLICE_GRACE_MS = 50;
const GRACE_MS = 250;
/** Wall-clock limit of a call as a multiple of its CPU limit, plus `WALL_EXTRA_MS`. Limits how long a caller waits. */
const WALL_FACTOR = 2;
const WALL_EXTRA_MS = 2_000;
const SLOW_PER_ORGANIZATION_MAX = 3;
const SLOW_PER_ENDPOINT_MAX = 2;
const SLOW_IDLE_MS_MAX = 30_000;
const SLOW_NICENESS = 10;
const SLOW_ENDPOINTS_MAX = 10_000;

/**
 * Runs calls of unknown duration in two thread pools. Each call starts on a quick thread, and one organization can
 * never occupy all quick threads. A call that takes more than 50 ms starts again in a larger pool of slow threads with
 * lower priority. See docs/adr/0017-slow-code-moves-aside.md.
 */
export class ThreadSlots<C extends Sliced, A extends object> {
  private readonly quick: ThreadSlot<C, A | 'overrun'>;
  private readonly slow: ThreadSlot<C, A | 'overrun'>;
  /** Endpoints whose last call was slow, most recent last. */
  private readonly slowEndpoints = new Set<string>();
  private closed = false;

  private readonly wallFactor: number;

  constructor({ quickMax, slowMax, startThread, pace, wallFactor = WALL_FACTOR }: ThreadSlotsOptions<C, A>) {
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

  /**
   * Runs a call for up to `timeoutMs` of CPU time and `wallMsFor(timeoutMs)` of wall-clock time. `bytes`: size of
   * `call`. Never rejects.
   */
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

  /**
   * Returns the current values for metrics. `slow`: calls that run on threads for slow calls. `restarts`: threads that
   * had to be replaced.
   */
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

/**
 * Returns the shared memory of the CPU budget for a thread for slow calls. Returns null for a thread for quick calls,
 * which is not throttled.
 */
export const cellsFor = (niceness: number, pace: CpuBudget | undefined): Int32Array | null =>
  niceness > 0 ? (pace?.cells ?? null) : null;

function paced<C, A>(thread: SlotThread<C, A>, pace: CpuBudget | undefined): SlotThread<C, A> {
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

/**
 * Returns whether a call may run on a thread for slow calls now. An organization without a running slow call is always
 * admitted.
 */
function admitsSlow(use: ThreadUse, slowMax: number, organization: string, endpoint: string): boolean {
  const others = use.ofOrganization(organization);
  if (others === 0) return true;
  const isFree = slowMax - use.running > slowMax / 2;
  return isFree && others < SLOW_PER_ORGANIZATION_MAX && use.ofEndpoint(organization, endpoint) < SLOW_PER_ENDPOINT_MAX;
}

/**
 * Returns whether a call exceeded its slice of CPU time, even if its thread was terminated. Such a call starts again on
 * a thread for slow calls.
 */
function isOverrun(end: JobEnd<object | string>): boolean {
  return end.answer === null ? end.why === 'timeout' : end.answer === 'overrun';
}

/**
 * Returns the final result of a call. A call that exceeds its CPU slice normally starts again on a thread for slow
 * calls, so a final `overrun` means that a shutdown ended the call. A call that used up its CPU time but missed the
 * deadline ends as `timeout`.
 */
function finalOf<A extends object>(end: JobEnd<A | 'overrun'>, timeoutMs: number): JobEnd<A> {
  if (end.answer === 'overrun') return { answer: null, why: 'stopped', cpuMs: end.cpuMs };
  if ('why' in end && end.why === 'starved' && end.cpuMs >= timeoutMs)
    return { answer: null, why: 'timeout', cpuMs: end.cpuMs };
  return end as JobEnd<A>;
}

const sliced = <C extends Sliced>(call: Omit<C, 'sliceMs'>, sliceMs: number | null): C =>
  ({ ...call, sliceMs }) as unknown as C;

/** Returns the wall-clock limit of a call, including waits and a second start. */
export const wallMsFor = (timeoutMs: number, factor = WALL_FACTOR): number => factor * timeoutMs + WALL_EXTRA_MS;
