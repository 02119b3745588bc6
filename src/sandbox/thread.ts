import { Worker } from 'node:worker_threads';
import type { GuestCall } from './guest.js';
import { failure, type SandboxOutcome } from './outcome.js';
import type { GuestMessage } from './worker.js';

/** How long after its deadline a call that does not heed the interrupt (a long built-in) is ended from outside. */
const GRACE_MS = 250;
const START_MS_MAX = 10_000;
/** Of the thread's own heap, which copies texts in and out; the guest's memory is WebAssembly's and not in it. */
const HEAP_MB_MAX = 64;

/** A worker thread that makes one call at a time. It keeps the process alive only while it does. */
export class GuestThread {
  private readonly worker: Worker;
  private pending: ((outcome: SandboxOutcome) => void) | null = null;
  private timer: NodeJS.Timeout | undefined;
  private dead = false;

  /** `file` is worker.ts, compiled. */
  constructor(file: URL, engine: WebAssembly.Module) {
    this.worker = new Worker(file, {
      workerData: { engine },
      // Nothing of ours goes in: no environment, no flags, no input.
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    this.worker.unref();
    this.worker.on('error', (error: NodeJS.ErrnoException) => this.end(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? failure('memory', 'The code wanted more memory than a call has.')
        : failure('crashed', 'The thread that ran the code broke.'),
    ));
    this.worker.on('exit', () => this.end(failure('crashed', 'The thread that ran the code ended.')));
  }

  /** Whether it takes another call. */
  get isAlive(): boolean {
    return !this.dead;
  }

  /** Only while no other call runs. Never rejects, and ends at the latest `GRACE_MS` after the call's deadline. */
  run(call: GuestCall): Promise<SandboxOutcome> {
    return new Promise((resolve) => {
      this.pending = resolve;
      this.worker.ref();
      this.worker.removeAllListeners('message');
      this.worker.on('message', (message: GuestMessage) => this.hear(message, call));
      this.endAfter(START_MS_MAX);
      this.worker.postMessage(call);
    });
  }

  /** Ends the thread, and with it a call that still runs. */
  async stop(): Promise<void> {
    this.end(failure('busy', 'The service is shutting down.'));
    await this.worker.terminate();
  }

  private hear(message: GuestMessage, call: GuestCall): void {
    if (this.dead) return;
    if (message === 'begun') this.endAfter(call.timeoutMs + GRACE_MS);
    else if (message.isSpoiled) this.end(message.outcome);
    else this.settle(message.outcome);
  }

  private endAfter(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.end(failure('timeout', 'The code did not end in time.')), ms);
  }

  private end(outcome: SandboxOutcome): void {
    if (!this.dead) void this.worker.terminate();
    this.dead = true;
    this.settle(outcome);
  }

  private settle(outcome: SandboxOutcome): void {
    clearTimeout(this.timer);
    this.worker.unref();
    const resolve = this.pending;
    this.pending = null;
    resolve?.(outcome);
  }
}
