import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { CallThread } from './call-thread.js';
import type { CpuBudget } from './cpu-budget.js';
import type { GuestCall } from './guest.js';
import type { JobEnd } from './lane.js';
import { cellsFor, type Owner, ThreadSlots } from './lanes.js';
import { failure, type SandboxOutcome, TOO_BUSY } from './outcome.js';

export interface SandboxOptions {
  /** Quick threads at most, two at least; they start when they are first needed. */
  workers?: number;
  /** The compiled worker.ts: beside this file in a build, elsewhere only for unit tests, which run without one. */
  workerFile?: URL;
  /** What slow code yields by. */
  pace?: CpuBudget;
}

/** A call of somebody's JavaScript. */
export interface SandboxCall extends Owner {
  /** An ES module without imports, whose default export is a function, which may be async. At most 64 KB. */
  code: string;
  /** The arguments, each as JSON text. */
  args: readonly string[];
  /**
   * Of CPU time, from the moment in which the code begins. By the clock the call ends after twice as long and two seconds, with its wait for
   * a thread (`wallMsFor`): as `busy` where it had less CPU time than this.
   */
  timeoutMs: number;
  inputBytesMax?: number;
  resultBytesMax?: number;
}

const WORKERS_DEFAULT = 2;
/** Beside the quick ones: eight threads, each with at most 64 MB for its guest. */
const SLOW_MAX = 6;
/** Of a thread's own heap, which copies texts in and out; the guest's memory is WebAssembly's and not in it. */
const HEAP_MB_MAX = 64;
const CODE_BYTES_MAX = 64 * 1024;
const INPUT_BYTES_MAX = 2 * 1024 * 1024;
const RESULT_BYTES_MAX = 256 * 1024;
const CHECK_TIMEOUT_MS = 1_000;

/**
 * Runs untrusted JavaScript away from the event loop: QuickJS in WebAssembly on worker threads, a fresh VM of at most
 * 64 MB per call, no I/O. Whatever the code does costs its own call and nothing else.
 */
export class Sandbox {
  private readonly threadSlots: ThreadSlots<GuestCall, SandboxOutcome>;
  private engine: Promise<WebAssembly.Module> | undefined;
  private closed = false;

  constructor(options: SandboxOptions = {}) {
    const file = options.workerFile ?? new URL('./worker.js', import.meta.url);
    this.threadSlots = new ThreadSlots({
      quickMax: Math.max(2, options.workers ?? WORKERS_DEFAULT),
      slowMax: SLOW_MAX,
      pace: options.pace,
      startThread: async (niceness) => {
        const engine = await (this.engine ??= loadEngine());
        return new CallThread({
          file,
          workerData: { engine, niceness, cells: cellsFor(niceness, options.pace) },
          resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
        });
      },
    });
  }

  /** Calls the code's function. Never rejects; a call that there is no room for ends as `busy`. */
  run(call: SandboxCall): Promise<SandboxOutcome> {
    const inputBytesMax = call.inputBytesMax ?? INPUT_BYTES_MAX;
    if (bytesOf(call.args) > inputBytesMax) {
      return Promise.resolve(failure('invalid_input', `The input is longer than ${inputBytesMax} bytes of JSON.`));
    }
    const { code, args, timeoutMs, resultBytesMax = RESULT_BYTES_MAX } = call;
    return this.submit(call, { code, args, timeoutMs, resultBytesMax });
  }

  /**
   * What is wrong with the code, in a sentence; null when it is a module with a function as its default export.
   * Its top level runs, the function does not.
   */
  async check(code: string, organization: string): Promise<string | null> {
    const outcome = await this.submit(
      { organization, endpoint: 'check' },
      { code, args: null, timeoutMs: CHECK_TIMEOUT_MS, resultBytesMax: 0 },
    );
    if (outcome.ok) return null;
    const isOurs = outcome.reason === 'busy' || outcome.reason === 'crashed';
    return isOurs ? 'The code could not be checked just now: send the request again.' : outcome.message;
  }

  /** For metrics. `slow` of the running ones are on slow threads; `restarts` counts threads that had to be replaced. */
  figures(): ReturnType<ThreadSlots<GuestCall, SandboxOutcome>['figures']> {
    return this.threadSlots.figures();
  }

  /** Ends what runs and what waits; every later call is `busy`. */
  async close(): Promise<void> {
    this.closed = true;
    await this.threadSlots.close();
  }

  private async submit(owner: Owner, call: Omit<GuestCall, 'sliceMs'>): Promise<SandboxOutcome> {
    if (Buffer.byteLength(call.code) > CODE_BYTES_MAX) {
      return failure('invalid_code', `The code is longer than ${CODE_BYTES_MAX} bytes.`);
    }
    const end = await this.threadSlots.run(owner, call, call.timeoutMs, bytesOf(call.args ?? []) + call.code.length);
    return this.closed && end.answer === null ? failure('busy', 'The service is shutting down.') : outcomeOf(end);
  }
}

function outcomeOf(end: JobEnd<SandboxOutcome>): SandboxOutcome {
  if (end.answer !== null) return end.answer;
  switch (end.why) {
    case 'timeout':
      return failure('timeout', 'The code did not end in time.');
    case 'memory':
      return failure('memory', 'The code wanted more memory than a call has.');
    case 'crashed':
      return failure('crashed', 'The thread that ran the code broke.');
    case 'starved':
      return failure('busy', TOO_BUSY);
    case 'stopped':
      return failure('busy', 'The service is shutting down.');
    case 'busy':
      return failure('busy', 'Too many calls are waiting.');
  }
}

const bytesOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Compiled once; the threads share the machine code. */
async function loadEngine(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')));
}
