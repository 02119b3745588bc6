import type { CallEnd, CallLimits, EndReason } from './call-thread.js';
import { FairQueue, type QueueTurn } from './fair-queue.js';

export interface Job<C> {
  call: C;
  /** Owner of the call. Organizations take turns, and so do the endpoints within an organization. */
  organization: string;
  endpoint: string;
  limits: CallLimits;
  /** Size of the memory that the job occupies while it waits. */
  bytes: number;
}

/** `busy` means that the job never ran: the queue was full, or it waited too long or until its deadline. */
export type JobEnd<A> = CallEnd<A> | { answer: null; why: 'busy'; cpuMs: 0 };

export interface SlotThread<C, A> {
  readonly ready: Promise<boolean>;
  readonly isAlive: boolean;
  run(call: C, limits: CallLimits): Promise<CallEnd<A>>;
  stop(): Promise<void>;
}

/** Current use of threads, for admission decisions. */
export interface ThreadUse {
  readonly running: number;
  ofOrganization(organization: string): number;
  ofEndpoint(organization: string, endpoint: string): number;
}

export interface ThreadSlotOptions<C, A> {
  threadsMax: number;
  /** Returns whether a waiting call may start on an available thread. */
  admits(use: ThreadUse, organization: string, endpoint: string): boolean;
  startThread(): Promise<SlotThread<C, A>>;
  /** True to keep one idle thread ready, because the start of a thread takes a tenth of a second. */
  hasStandby?: boolean;
  /** Idle time after which a thread stops. If omitted, threads never stop. */
  idleMsMax?: number;
}

interface Waiting<C, A> {
  job: Job<C>;
  timer: NodeJS.Timeout;
  resolve: (end: JobEnd<A>) => void;
}

const QUEUE_MAX = 1_000;
/** Maximum number of waiting jobs per organization, so that one organization cannot fill the queue. */
const QUEUE_PER_ORGANIZATION_MAX = 500;
const QUEUE_BYTES_MAX = 64 * 1024 * 1024;
const QUEUED_MS_MAX = 5_000;
/** Time by which a job's deadline is extended while the first thread is starting. */
const FIRST_START_MS = 1_000;

const BUSY = { answer: null, why: 'busy', cpuMs: 0 } as const;

/** A pool of threads with a fair queue. Each owner is charged with the CPU time that its calls used. */
export class ThreadSlot<C, A> implements ThreadUse {
  private readonly queue = new FairQueue<Waiting<C, A>>();
  private readonly threads = new Set<SlotThread<C, A>>();
  private readonly idle: { thread: SlotThread<C, A>; timer: NodeJS.Timeout | undefined }[] = [];
  private readonly counts = new Map<string, number>();
  private starting = 0;
  private queuedBytes = 0;
  private closed = false;
  running = 0;
  restarts = 0;

  constructor(private readonly options: ThreadSlotOptions<C, A>) {}

  get queued(): number {
    return this.queue.size;
  }

  get threadCount(): number {
    return this.threads.size;
  }

  ofOrganization(organization: string): number {
    return this.counts.get(organization) ?? 0;
  }

  ofEndpoint(organization: string, endpoint: string): number {
    return this.counts.get(keyOf(organization, endpoint)) ?? 0;
  }

  /** Runs a job. Never rejects: a job that waits for over five seconds, or until its deadline, ends as `busy`. */
  run(job: Job<C>): Promise<JobEnd<A>> {
    const { organization, endpoint, bytes } = job;
    const isFull =
      this.queue.size >= QUEUE_MAX ||
      this.queue.sizeOf(organization) >= QUEUE_PER_ORGANIZATION_MAX ||
      this.queuedBytes + bytes > QUEUE_BYTES_MAX;
    if (this.closed || isFull) return Promise.resolve(BUSY);
    return new Promise((resolve) => {
      const waitMsMax = Math.min(QUEUED_MS_MAX, job.limits.deadline?.leftMs() ?? Infinity);
      const waiting: Waiting<C, A> = {
        job,
        resolve,
        timer: setTimeout(() => this.giveUp(waiting), waitMsMax).unref(),
      };
      this.queue.push(organization, endpoint, waiting);
      this.queuedBytes += bytes;
      this.startWaiting();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.dismissAll('busy');
    await Promise.all([...this.threads].map((thread) => thread.stop()));
    this.threads.clear();
  }

  private startWaiting(): void {
    const admits = (organization: string, endpoint: string): boolean =>
      this.options.admits(this, organization, endpoint);
    while (!this.closed && this.queue.has(admits)) {
      const thread = this.idleThread();
      const turn = thread && this.queue.take(admits);
      // If no thread is idle, the next job waits until a thread has started or has finished its call.
      if (!thread || !turn) break;
      void this.start(thread, turn);
    }
    const isWanted = this.queue.has(admits) ? this.queue.size > this.starting : this.isStandbyWanted();
    if (isWanted && !this.closed && this.threads.size + this.starting < this.options.threadsMax)
      void this.startThread();
  }

  private isStandbyWanted(): boolean {
    return this.options.hasStandby === true && this.running > 0 && this.idle.length + this.starting === 0;
  }

  private async start(thread: SlotThread<C, A>, queueTurn: QueueTurn<Waiting<C, A>>): Promise<void> {
    const { job, resolve } = this.dismiss(queueTurn.item);
    this.count(queueTurn, 1);
    const end = await thread.run(job.call, job.limits);
    this.queue.settle(queueTurn, end.cpuMs);
    this.count(queueTurn, -1);
    if (thread.isAlive) this.rest(thread);
    else this.bury(thread);
    resolve(end);
    this.startWaiting();
  }

  private async startThread(): Promise<void> {
    this.starting += 1;
    let thread: SlotThread<C, A> | null = null;
    try {
      thread = await this.options.startThread();
      const isUp = !this.closed && (await thread.ready);
      if (isUp && !this.closed) {
        this.threads.add(thread);
        this.rest(thread);
      } else {
        await thread.stop();
      }
    } catch {
      // A failed start is handled below.
    }
    this.starting -= 1;
    if (this.threads.size === 0 && this.starting === 0) this.dismissAll('crashed');
    this.startWaiting();
  }

  /** Ends all waiting jobs. They would never run, because there is no thread. */
  private dismissAll(why: EndReason | 'busy'): void {
    for (let turn = this.queue.take(() => true); turn; turn = this.queue.take(() => true)) {
      const { resolve } = this.dismiss(turn.item);
      resolve(why === 'busy' ? BUSY : { answer: null, why, cpuMs: 0 });
    }
  }

  private idleThread(): SlotThread<C, A> | undefined {
    for (let known = this.idle.pop(); known; known = this.idle.pop()) {
      clearTimeout(known.timer);
      if (known.thread.isAlive) return known.thread;
      // The thread ended unexpectedly while it was idle.
      this.bury(known.thread);
    }
    return undefined;
  }

  private rest(thread: SlotThread<C, A>): void {
    const { idleMsMax } = this.options;
    const known = {
      thread,
      timer: idleMsMax === undefined ? undefined : setTimeout(() => this.retire(thread), idleMsMax).unref(),
    };
    this.idle.push(known);
  }

  private retire(thread: SlotThread<C, A>): void {
    const index = this.idle.findIndex((known) => known.thread === thread);
    if (index < 0) return;
    this.idle.splice(index, 1);
    this.threads.delete(thread);
    void thread.stop();
  }

  private bury(thread: SlotThread<C, A>): void {
    if (this.threads.delete(thread) && !this.closed) this.restarts += 1;
  }

  private count({ organization, endpoint }: QueueTurn<Waiting<C, A>>, change: 1 | -1): void {
    this.running += change;
    for (const key of [organization, keyOf(organization, endpoint)]) {
      const count = (this.counts.get(key) ?? 0) + change;
      if (count === 0) this.counts.delete(key);
      else this.counts.set(key, count);
    }
  }

  private giveUp(waiting: Waiting<C, A>): void {
    // The first thread is still starting, so the job waits longer. If the start fails, the job ends too.
    if (this.threads.size === 0 && this.starting > 0) {
      waiting.job.limits.deadline?.postpone(FIRST_START_MS);
      waiting.timer = setTimeout(() => this.giveUp(waiting), FIRST_START_MS).unref();
      return;
    }
    this.queue.remove(waiting.job.organization, waiting.job.endpoint, waiting);
    this.dismiss(waiting).resolve(BUSY);
  }

  private dismiss(waiting: Waiting<C, A>): Waiting<C, A> {
    clearTimeout(waiting.timer);
    this.queuedBytes -= waiting.job.bytes;
    return waiting;
  }
}

const keyOf = (organization: string, endpoint: string): string => `${organization}\0${endpoint}`;
