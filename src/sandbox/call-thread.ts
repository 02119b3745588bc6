import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { Deadline } from './deadline.js';
import { cpuMsOf, monotonicMs } from './thread-cpu.js';

/** Messages from a thread: it is ready, a call has begun (with the thread's system id), or a call has ended. */
export type ThreadMessage<A> =
  | { kind: 'ready' }
  | { kind: 'begun'; thread: string | null }
  /** `isSpoiled` means that the thread should not be used again. */
  | { kind: 'answered'; answer: A; cpuMs: number; isSpoiled: boolean };

/** Reason why a call has no result. `starved` means that the machine had no CPU time for the call. */
export type EndReason = 'timeout' | 'memory' | 'crashed' | 'starved' | 'stopped';

export type CallEnd<A> = { answer: A; cpuMs: number } | { answer: null; why: EndReason; cpuMs: number };

export interface CallLimits {
  /** CPU limit of the call. Exceeding it terminates the call together with its thread. */
  cpuMsMax: number;
  /** Wall-clock limit, from the time at which the thread receives the call. Also ends calls that get no CPU time. */
  wallMsMax: number;
  /** Deadline of the call, which the thread gets as `deadlineMs`. A call that misses it is terminated shortly after. */
  deadline?: Deadline;
}

export interface ThreadOptions {
  file: URL;
  workerData: unknown;
  resourceLimits: ResourceLimits;
}

const START_MS_MAX = 20_000;
/** Time after the deadline before a call that ignores interrupts is terminated. */
const DEADLINE_GRACE_MS = 250;
const LOOK_MS_MAX = 1_000;

/** A worker thread that runs one call at a time. It keeps the process alive only during a call. */
export class CallThread<C, A> {
  readonly ready: Promise<boolean>;
  private readonly worker: Worker;
  private resolveReady: (isUp: boolean) => void = () => undefined;
  private pending: ((end: CallEnd<A>) => void) | null = null;
  private timer: NodeJS.Timeout | undefined;
  private thread: string | null = null;
  private begun: { cpuMs: number | null; atMs: number } | null = null;
  private limits: CallLimits = { cpuMsMax: 0, wallMsMax: 0 };
  private endMs = 0;
  private dead = false;

  constructor({ file, workerData, resourceLimits }: ThreadOptions) {
    this.ready = new Promise((resolve) => (this.resolveReady = resolve));
    // The thread gets no environment, flags or input of this process.
    this.worker = new Worker(file, { workerData, env: {}, argv: [], execArgv: [], resourceLimits });
    this.worker.on('message', (message: ThreadMessage<A>) => this.onMessage(message));
    this.worker.on('error', (error: NodeJS.ErrnoException) =>
      this.end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crashed'),
    );
    this.worker.on('exit', () => this.end('crashed'));
    this.timer = setTimeout(() => this.end('crashed'), START_MS_MAX);
  }

  get isAlive(): boolean {
    return !this.dead;
  }

  /** Runs a call. The thread must be ready and idle. Never rejects, and resolves within the limits. */
  run(call: C, limits: CallLimits): Promise<CallEnd<A>> {
    return new Promise((resolve) => {
      this.pending = resolve;
      this.limits = limits;
      this.begun = null;
      this.worker.ref();
      const { wallMsMax, deadline } = limits;
      this.endMs = Math.min(monotonicMs() + wallMsMax, (deadline?.atMs ?? Infinity) + DEADLINE_GRACE_MS);
      this.lookIn(wallMsMax);
      this.worker.postMessage(deadline === undefined ? call : { ...call, deadlineMs: deadline.atMs });
    });
  }

  /** Terminates the thread, even during a call. */
  async stop(): Promise<void> {
    this.end('stopped');
    await this.worker.terminate();
  }

  private onMessage(message: ThreadMessage<A>): void {
    if (this.dead) return;
    if (message.kind === 'ready') {
      clearTimeout(this.timer);
      this.worker.unref();
      this.resolveReady(true);
    } else if (message.kind === 'begun') {
      this.thread = message.thread;
      this.begun = { cpuMs: cpuMsOf(message.thread), atMs: performance.now() };
      this.lookIn(this.limits.cpuMsMax);
    } else {
      if (message.isSpoiled) this.kill();
      this.settle({ answer: message.answer, cpuMs: message.cpuMs });
    }
  }

  private lookIn(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), Math.min(Math.max(5, ms), LOOK_MS_MAX));
  }

  /** Terminates a call that exceeds a limit. A call that gets no CPU time may continue until its deadline. */
  private look(): void {
    const wallLeftMs = this.endMs - monotonicMs();
    const cpuLeftMs = this.begun ? this.limits.cpuMsMax - this.usedMs() : Infinity;
    if (cpuLeftMs <= 0) this.end('timeout');
    else if (wallLeftMs <= 0) this.end('starved');
    else this.lookIn(Math.min(cpuLeftMs, wallLeftMs));
  }

  private usedMs(): number {
    if (!this.begun) return 0;
    const cpuMs = cpuMsOf(this.thread);
    return this.begun.cpuMs === null || cpuMs === null ? performance.now() - this.begun.atMs : cpuMs - this.begun.cpuMs;
  }

  private end(why: EndReason): void {
    const cpuMs = this.usedMs();
    this.kill();
    this.settle({ answer: null, why, cpuMs });
  }

  private kill(): void {
    clearTimeout(this.timer);
    if (!this.dead) void this.worker.terminate();
    this.dead = true;
    this.resolveReady(false);
  }

  private settle(end: CallEnd<A>): void {
    clearTimeout(this.timer);
    this.worker.unref();
    const resolve = this.pending;
    this.pending = null;
    resolve?.(end);
  }
}
