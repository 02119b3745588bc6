import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { CallThread } from './call-thread.js';
import type { CpuBudget } from './cpu-budget.js';
import type { GuestCall } from './guest.js';
import { failure, type SandboxOutcome, TOO_BUSY } from './outcome.js';
import type { JobEnd } from './thread-slot.js';
import { cellsFor, type Owner, ThreadSlots } from './thread-slots.js';

export interface SandboxOptions {
  /** Maximum number of threads for quick code, at least two. A thread starts on first use. */
  workers?: number;
  /** Compiled worker.ts. It is next to this file, except in unit tests, which run without a build. */
  workerFile?: URL;
  pace?: CpuBudget;
}

export interface SandboxCall extends Owner, Pick<GuestCall, 'body' | 'spellings' | 'secrets'> {
  /** An ES module without imports, of at most 64 KB. Its default export is a function, which may be async. */
  code: string;
  /** Arguments, each as JSON text. */
  args: readonly string[];
  /**
   * CPU limit from the start of the code. The wall-clock limit, which includes the wait for a thread, is twice the CPU
   * limit plus two seconds (`wallMsFor`). A call that reaches only the wall-clock limit ends as `busy`.
   */
  timeoutMs: number;
  inputBytesMax?: number;
  resultBytesMax?: number;
}

const WORKERS_DEFAULT = 2;
/**
 * Maximum number of threads for slow code. Together with two quick threads, there are at most eight, each with 64 MB
 * for its guest.
 */
const SLOW_MAX = 6;
/**
 * JavaScript heap limit of a thread, enough for copies of texts. The guest's memory does not count, because it is
 * WebAssembly memory.
 */
const HEAP_MB_MAX = 64;
const CODE_BYTES_MAX = 64 * 1024;
const INPUT_BYTES_MAX = 2 * 1024 * 1024;
const RESULT_BYTES_MAX = 256 * 1024;
const CHECK_TIMEOUT_MS = 1_000;

/**
 * Runs untrusted JavaScript off the event loop: in QuickJS in WebAssembly on worker threads, with a fresh VM of at most
 * 64 MB per call and no I/O. Misbehaving code only affects its own call.
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

  /** Runs a call and returns its outcome. Never rejects: the call ends as `busy` if the queue is full. */
  run(call: SandboxCall): Promise<SandboxOutcome> {
    const inputBytesMax = call.inputBytesMax ?? INPUT_BYTES_MAX;
    if (bytesOf(call.args) > inputBytesMax) {
      return Promise.resolve(failure('invalid_input', `The input is longer than ${inputBytesMax} bytes of JSON.`));
    }
    const { code, args, timeoutMs, resultBytesMax = RESULT_BYTES_MAX, body, spellings, secrets } = call;
    return this.submit(call, { code, args, timeoutMs, resultBytesMax, body, spellings, secrets });
  }

  /** Returns the fault of the code, or null if its default export is a function. Runs only the code's top level. */
  async check(code: string, organization: string): Promise<string | null> {
    const outcome = await this.submit(
      { organization, endpoint: 'check' },
      { code, args: null, timeoutMs: CHECK_TIMEOUT_MS, resultBytesMax: 0 },
    );
    if (outcome.ok) return null;
    const isOurs = outcome.reason === 'busy' || outcome.reason === 'crashed';
    return isOurs ? 'The code could not be checked just now: send the request again.' : outcome.message;
  }

  /**
   * Returns the current values for metrics. `slow`: calls that run on threads for slow code. `restarts`: threads that
   * had to be replaced.
   */
  figures(): ReturnType<ThreadSlots<GuestCall, SandboxOutcome>['figures']> {
    return this.threadSlots.figures();
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.threadSlots.close();
  }

  private async submit(owner: Owner, call: Omit<GuestCall, 'sliceMs'>): Promise<SandboxOutcome> {
    if (Buffer.byteLength(call.code) > CODE_BYTES_MAX) {
      return failure('invalid_code', `The code is longer than ${CODE_BYTES_MAX} bytes.`);
    }
    const { args, code, body, spellings } = call;
    const bytes = bytesOf(args ?? []) + code.length + (body?.length ?? 0) + (spellings?.length ?? 0);
    const end = await this.threadSlots.run(owner, call, call.timeoutMs, bytes);
    return this.closed && end.answer === null ? failure('busy', 'The service is shutting down.') : outcomeOf(end);
  }
}

function outcomeOf(end: JobEnd<SandboxOutcome>): SandboxOutcome {
  if (end.answer !== null) return end.answer;
  switch (end.why) {
    case 'timeout':
      return failure('timeout', 'The code did not end in time.');
    case 'memory':
      return failure('memory', 'The code needed more memory than a call has.');
    case 'crashed':
      return failure('crashed', 'The thread that ran the code failed.');
    case 'starved':
      return failure('busy', TOO_BUSY);
    case 'stopped':
      return failure('busy', 'The service is shutting down.');
    case 'busy':
      return failure('busy', 'Too many calls are waiting.');
  }
}

const bytesOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Compiles the engine once and returns the module. The threads share its machine code. */
async function loadEngine(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')));
}
