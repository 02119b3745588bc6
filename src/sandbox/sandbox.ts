import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { FairQueue } from './fair-queue.js';
import type { GuestCall } from './guest.js';
import { failure, type SandboxOutcome } from './outcome.js';
import { GuestThread } from './thread.js';

export interface SandboxOptions {
  /** Threads at most; they start when they are first needed. */
  workers?: number;
  /** The compiled worker.ts: beside this file in a build, elsewhere only for unit tests, which run without one. */
  workerFile?: URL;
}

/** A call of somebody's JavaScript. */
export interface SandboxCall {
  /** An ES module without imports, whose default export is a function, which may be async. At most 64 KB. */
  code: string;
  /** The arguments, each as JSON text. */
  args: readonly string[];
  /** From the moment in which the code begins; waiting for a thread is not in it. */
  timeoutMs: number;
  /** Whose call it is: keys take turns, and one key alone never holds all threads. */
  tenantKey: string;
  inputBytesMax?: number;
  resultBytesMax?: number;
}

interface Waiting {
  key: string;
  call: GuestCall;
  bytes: number;
  timer: NodeJS.Timeout;
  resolve: (outcome: SandboxOutcome) => void;
}

const WORKERS_DEFAULT = 2;
const CODE_BYTES_MAX = 64 * 1024;
const INPUT_BYTES_MAX = 2 * 1024 * 1024;
const RESULT_BYTES_MAX = 256 * 1024;
const QUEUE_MAX = 1_000;
/** So that one key never fills the queue for all. */
const QUEUE_PER_KEY_MAX = 500;
const QUEUE_BYTES_MAX = 64 * 1024 * 1024;
const QUEUED_MS_MAX = 5_000;
const CHECK_TIMEOUT_MS = 1_000;

/**
 * Runs untrusted JavaScript away from the event loop: QuickJS in WebAssembly on a few worker threads, a fresh VM of
 * at most 64 MB per call, no I/O. Whatever the code does costs its own call and nothing else.
 */
export class Sandbox {
  private readonly workersMax: number;
  private readonly workerFile: URL;
  private readonly queue = new FairQueue<Waiting>();
  private readonly threads = new Set<GuestThread>();
  private readonly idle: GuestThread[] = [];
  private readonly runningByKey = new Map<string, number>();
  private engine: Promise<WebAssembly.Module> | undefined;
  private running = 0;
  private queuedBytes = 0;
  private restarts = 0;
  private closed = false;

  constructor(options: SandboxOptions = {}) {
    this.workersMax = Math.max(1, options.workers ?? WORKERS_DEFAULT);
    this.workerFile = options.workerFile ?? new URL('./worker.js', import.meta.url);
  }

  /** Calls the code's function. Never rejects; a call that has to wait over 5 seconds ends as `busy`. */
  run(call: SandboxCall): Promise<SandboxOutcome> {
    const inputBytesMax = call.inputBytesMax ?? INPUT_BYTES_MAX;
    if (bytesOf(call.args) > inputBytesMax) {
      return Promise.resolve(failure('invalid_input', `The input is longer than ${inputBytesMax} bytes of JSON.`));
    }
    const { code, args, timeoutMs, resultBytesMax = RESULT_BYTES_MAX } = call;
    return this.submit(call.tenantKey, { code, args, timeoutMs, resultBytesMax });
  }

  /**
   * What is wrong with the code, in a sentence; null when it is a module with a function as its default export.
   * Its top level runs, the function does not.
   */
  async check(code: string, tenantKey = ''): Promise<string | null> {
    const outcome = await this.submit(tenantKey, { code, args: null, timeoutMs: CHECK_TIMEOUT_MS, resultBytesMax: 0 });
    if (outcome.ok) return null;
    const isOurs = outcome.reason === 'busy' || outcome.reason === 'crashed';
    return isOurs ? 'The code could not be checked just now: send the request again.' : outcome.message;
  }

  /** For metrics. `restarts` counts threads that had to be replaced since the start. */
  figures(): { running: number; queued: number; workers: number; restarts: number } {
    return { running: this.running, queued: this.queue.size, workers: this.threads.size, restarts: this.restarts };
  }

  /** Ends what runs and what waits; every later call is `busy`. */
  async close(): Promise<void> {
    this.closed = true;
    for (let waiting = this.dequeue(() => true); waiting; waiting = this.dequeue(() => true)) waiting.resolve(shutDown());
    await Promise.all([...this.threads].map((thread) => thread.stop()));
    this.threads.clear();
  }

  private submit(key: string, call: GuestCall): Promise<SandboxOutcome> {
    if (this.closed) return Promise.resolve(shutDown());
    if (Buffer.byteLength(call.code) > CODE_BYTES_MAX) {
      return Promise.resolve(failure('invalid_code', `The code is longer than ${CODE_BYTES_MAX} bytes.`));
    }
    const bytes = bytesOf(call.args ?? []) + call.code.length;
    if (this.queue.size >= QUEUE_MAX || this.queue.sizeOf(key) >= QUEUE_PER_KEY_MAX || this.queuedBytes + bytes > QUEUE_BYTES_MAX) {
      return Promise.resolve(failure('busy', 'Too many calls are waiting.'));
    }
    return new Promise((resolve) => {
      const waiting: Waiting = { key, call, bytes, resolve, timer: setTimeout(() => this.giveUp(waiting), QUEUED_MS_MAX).unref() };
      this.queue.push(key, waiting);
      this.queuedBytes += bytes;
      this.startWaiting();
    });
  }

  private startWaiting(): void {
    // With one thread there is none to keep for others.
    const perKeyMax = Math.max(1, this.workersMax - 1);
    while (this.running < this.workersMax && !this.closed) {
      const waiting = this.dequeue((key) => (this.runningByKey.get(key) ?? 0) < perKeyMax);
      if (!waiting) return;
      void this.start(waiting);
    }
  }

  private async start({ key, call, resolve }: Waiting): Promise<void> {
    this.count(key, 1);
    let outcome: SandboxOutcome;
    try {
      const thread = await this.thread();
      outcome = await thread.run(call);
      this.release(thread);
    } catch {
      outcome = this.closed ? shutDown() : failure('crashed', 'No thread could be started.');
    }
    this.count(key, -1);
    resolve(outcome);
    this.startWaiting();
  }

  private async thread(): Promise<GuestThread> {
    // One that died while it had nothing to do is found out here.
    for (let known = this.idle.pop(); known; known = this.idle.pop()) {
      if (known.isAlive) return known;
      this.release(known);
    }
    const engine = await (this.engine ??= loadEngine());
    if (this.closed) throw new Error('The sandbox is closed.');
    const thread = new GuestThread(this.workerFile, engine);
    this.threads.add(thread);
    return thread;
  }

  private release(thread: GuestThread): void {
    if (thread.isAlive) {
      this.idle.push(thread);
    } else if (this.threads.delete(thread) && !this.closed) {
      this.restarts += 1;
    }
  }

  private count(key: string, change: 1 | -1): void {
    this.running += change;
    const count = (this.runningByKey.get(key) ?? 0) + change;
    if (count === 0) this.runningByKey.delete(key);
    else this.runningByKey.set(key, count);
  }

  private dequeue(admits: (key: string) => boolean): Waiting | undefined {
    const waiting = this.queue.take(admits);
    if (waiting) this.forget(waiting);
    return waiting;
  }

  private giveUp(waiting: Waiting): void {
    this.queue.remove(waiting.key, waiting);
    this.forget(waiting);
    waiting.resolve(failure('busy', 'The call waited too long for a thread.'));
  }

  private forget(waiting: Waiting): void {
    clearTimeout(waiting.timer);
    this.queuedBytes -= waiting.bytes;
  }
}

const shutDown = (): SandboxOutcome => failure('busy', 'The service is shutting down.');

const bytesOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Compiled once; the threads share the machine code. */
async function loadEngine(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')));
}
