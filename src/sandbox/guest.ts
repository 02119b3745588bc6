import { EvalFlags, JSException, type JSValueHandle, QuickJS } from 'quickjs-wasi';
import { failure, type SandboxFailure, type SandboxOutcome, TOO_BUSY } from './outcome.js';
import { monotonicMs } from './thread-cpu.js';

export interface GuestCall {
  /** Source of an ES module whose default export is the function to call. */
  code: string;
  /** Arguments, each as JSON text. If null, the call only checks whether there is a function. */
  args: readonly string[] | null;
  /** Limit of CPU time, measured from the start of the code. */
  timeoutMs: number;
  /** CPU time after which the call is abandoned and repeated on a slow thread. Null for no limit. */
  sliceMs: number | null;
  /** Deadline on the clock of `monotonicMs`. The call then ends as `busy`, however little CPU time it had. */
  deadlineMs?: number;
  resultBytesMax: number;
}

export interface GuestResult {
  /** `overrun` means that the call was abandoned at the end of its slice. */
  outcome: SandboxOutcome | 'overrun';
  /** True if the thread should not be used again, because the engine failed or its memory grew. */
  isSpoiled: boolean;
}

const MEMORY_BYTES_MAX = 64 * 1024 * 1024;
/** Memory above which a thread is replaced, because garbage collection would release the memory too late. */
const MEMORY_BYTES_KEPT = 16 * 1024 * 1024;
/** This limit is below the stack limit of WebAssembly, so that the code can catch deep recursion as a RangeError. */
const STACK_BYTES_MAX = 256 * 1024;
const MESSAGE_LENGTH_MAX = 300;
const WASI_ENOSYS = 52;

const FILE = 'code.js';
const TIMED_OUT = 'The code did not end in time.';
const OUT_OF_MEMORY = 'The code needed more than 64 MB of memory.';
const NO_FUNCTION = 'The code has no function as its default export: write `export default (event) => event`.';

/**
 * Code that runs before the guest's code. It saves the built-ins that it needs. Even if the guest changes built-ins, a
 * result is still the JSON of a value. `call` is async, so that throws, rejections and thenables have the same effect.
 */
const PRELUDE = `(() => {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { slice } = String.prototype;
  const NativeError = Error, NativeString = String;
  const cut = (value) => apply(slice, NativeString(value), [0, ${MESSAGE_LENGTH_MAX}]);
  return {
    read: (texts) => texts.map((text) => parse(text)),
    call: async (main, args) => apply(main, undefined, args),
    write: (value) => stringify(value),
    describe: (error) => {
      const isError = error instanceof NativeError;
      return cut(isError || typeof error !== 'object' ? NativeString(error) : stringify(error)) + '\\0' + cut(isError ? error.stack : '');
    },
  };
})()`;

class Failed extends Error {
  constructor(
    readonly reason: SandboxFailure,
    message: string,
  ) {
    super(message);
  }
}

/** Runs a call in a fresh VM and calls `rest` often while it runs. `usedMs` is the thread's CPU time. Never throws. */
export async function runGuest(
  engine: WebAssembly.Module,
  call: GuestCall,
  usedMs: () => number,
  rest?: () => void,
): Promise<GuestResult> {
  const endMs = performance.now() + (call.deadlineMs ?? Infinity) - monotonicMs();
  let limit: Limit | undefined;
  let vm: QuickJS | undefined;
  let outcome: SandboxOutcome;
  let isTrapped = false;
  try {
    vm = await QuickJS.create({
      wasm: engine,
      memoryLimit: MEMORY_BYTES_MAX,
      maxStackSize: STACK_BYTES_MAX,
      timezoneOffset: 0,
      interruptHandler: () => {
        rest?.();
        return limit?.isReached() ?? false;
      },
      wasi: () => ({ fd_write: () => WASI_ENOSYS }),
    });
    limit = new Limit(Math.min(call.timeoutMs, call.sliceMs ?? Infinity), usedMs, endMs);
    outcome = { ok: true, json: await new Guest(vm).run(call) };
  } catch (error) {
    outcome = failureOf(error);
    isTrapped = nameOf(error) === 'RuntimeError' || (isCrash(outcome) && limit?.wasReached !== true);
  }
  const isSpoiled = isTrapped || memoryBytes(vm) > MEMORY_BYTES_KEPT;
  // After an interrupt the VM may report any error, although the limit is the cause.
  if (limit && limit.usedMs() > call.timeoutMs) return { outcome: failure('timeout', TIMED_OUT), isSpoiled };
  if (limit?.isLate) return { outcome: failure('busy', TOO_BUSY), isSpoiled };
  if (limit?.wasReached)
    return { outcome: call.sliceMs === null ? failure('timeout', TIMED_OUT) : 'overrun', isSpoiled };
  return { outcome, isSpoiled };
}

/** Limits a call. Reads the CPU time only if the limit could be reached, because a read is expensive. */
class Limit {
  wasReached = false;
  /** True if the deadline passed before the CPU time was used up. */
  isLate = false;
  private readonly beganMs: number;
  private nextLookMs: number;

  constructor(
    private readonly limitMs: number,
    private readonly readMs: () => number,
    private readonly endMs: number,
  ) {
    this.beganMs = readMs();
    this.nextLookMs = Math.min(performance.now() + limitMs, endMs);
  }

  usedMs(): number {
    return this.readMs() - this.beganMs;
  }

  isReached(): boolean {
    const nowMs = performance.now();
    if (this.wasReached || nowMs < this.nextLookMs) return this.wasReached;
    const leftMs = this.limitMs - this.usedMs();
    this.isLate = leftMs > 0 && nowMs >= this.endMs;
    this.nextLookMs = Math.min(nowMs + Math.max(leftMs, 1), this.endMs);
    return (this.wasReached = leftMs <= 0 || this.isLate);
  }
}

/** One call in a VM. Handles to VM values are not freed individually, because they are discarded with the VM. */
class Guest {
  private readonly prelude: Readonly<Record<'read' | 'call' | 'write' | 'describe', JSValueHandle>>;

  constructor(private readonly vm: QuickJS) {
    const prelude = vm.evalCode(PRELUDE, 'prelude.js');
    const [read, call, write, describe] = ['read', 'call', 'write', 'describe'].map((name) =>
      prelude.getProp(name),
    ) as [JSValueHandle, JSValueHandle, JSValueHandle, JSValueHandle];
    this.prelude = { read, call, write, describe };
  }

  async run({ code, args, resultBytesMax }: GuestCall): Promise<string | null> {
    // Parses the arguments before the code runs, because the code could tamper with the parsing.
    const values = args === null ? null : this.read(args);
    const main = await this.load(code);
    if (values === null) return null;
    const settled = await this.settle(this.invoke(this.prelude.call, main, values));
    if (settled === null)
      throw new Failed('invalid_result', "The promise that the code returned can't settle any more.");
    if ('error' in settled) throw new Failed('threw', this.describe(settled.error));
    return this.write(settled.value, resultBytesMax);
  }

  private read(args: readonly string[]): JSValueHandle {
    try {
      return this.invoke(this.prelude.read, this.vm.hostToHandle([...args]));
    } catch (error) {
      // No guest code has run yet, so a syntax error or stack overflow is due to the argument.
      if (isOutOfMemory(messageOf(error))) throw error;
      throw new Failed('invalid_input', 'An argument is not JSON, or is nested too deeply.');
    }
  }

  private async load(code: string): Promise<JSValueHandle> {
    const module = this.attempt(() => this.vm.evalCode(code, FILE, EvalFlags.TYPE_MODULE));
    if ('error' in module) throw new Failed('invalid_code', located(module.error.message, module.error.stack ?? ''));
    const settled = await this.settle(module.value);
    if (settled === null)
      throw new Failed('invalid_code', "The code awaits something at its top level that can't settle.");
    if ('error' in settled) throw new Failed('invalid_code', this.describe(settled.error));
    const main = settled.value.getProp('default');
    if (!main.isFunction) throw new Failed('invalid_code', NO_FUNCTION);
    return main;
  }

  /** Returns the result of the promise, or null if the promise can no longer be settled. */
  private async settle(promise: JSValueHandle): Promise<{ value: JSValueHandle } | { error: JSValueHandle } | null> {
    this.vm.executePendingJobs();
    return promise.isPromise && promise.promiseState === 0 ? null : this.vm.resolvePromise(promise);
  }

  private write(value: JSValueHandle, bytesMax: number): string | null {
    if (value.isNull || value.isUndefined) return null;
    const text = this.attempt(() => this.invoke(this.prelude.write, value));
    if ('error' in text)
      throw new Failed('invalid_result', `The result has no JSON form: ${printable(text.error.message)}`);
    if (!text.value.isString)
      throw new Failed('invalid_result', `The result has no JSON form: it is a ${value.typeof}.`);
    // Checks the string's length inside the VM first, because a text that is too long must not even be copied out.
    const json = text.value.length > bytesMax ? null : text.value.toString();
    if (json === null || Buffer.byteLength(json) > bytesMax) {
      throw new Failed('result_too_large', `The result is longer than ${bytesMax} bytes of JSON.`);
    }
    return json === 'null' ? null : json;
  }

  private describe(error: JSValueHandle): string {
    const text = this.attempt(() => this.invoke(this.prelude.describe, error));
    if ('error' in text || !text.value.isString) return "The code threw something that can't be shown.";
    const [message = '', stack = ''] = text.value.toString().split('\0');
    return located(message, stack);
  }

  private invoke(fn: JSValueHandle, ...args: JSValueHandle[]): JSValueHandle {
    return this.vm.callFunction(fn, this.vm.undefined, ...args);
  }

  /** Returns errors and stack overflows of the guest code as a value. Rethrows other errors of the engine. */
  private attempt(step: () => JSValueHandle): { value: JSValueHandle } | { error: Error } {
    try {
      return { value: step() };
    } catch (error) {
      if (isOutOfMemory(messageOf(error))) throw error;
      if (error instanceof JSException || nameOf(error) === 'RangeError') return { error: error as Error };
      throw error;
    }
  }
}

function failureOf(error: unknown): SandboxOutcome {
  const message = messageOf(error);
  if (isOutOfMemory(message)) return failure('memory', OUT_OF_MEMORY);
  if (error instanceof Failed) return failure(error.reason, error.message);
  if (error instanceof JSException) return failure('threw', printable(message));
  // WebAssembly shares V8's stack. An overflow inside a built-in breaks the VM, but not the thread.
  if (nameOf(error) === 'RangeError') return failure('threw', 'RangeError: Maximum call stack size exceeded');
  return failure('crashed', 'The engine failed while it ran the code.');
}

// Errors are compared by name, because a trap belongs to the realm that compiled the engine.
const nameOf = (error: unknown): string | undefined => (error as Partial<Error> | null)?.name;

const messageOf = (error: unknown): string => (error as Partial<Error> | null)?.message ?? '';

const isCrash = (outcome: SandboxOutcome): boolean => !outcome.ok && outcome.reason === 'crashed';

const isOutOfMemory = (message: string): boolean => /out of memory|wasm_malloc failed/.test(message);

function memoryBytes(vm: QuickJS | undefined): number {
  return vm?._getMemory().buffer.byteLength ?? 0;
}

function located(message: string, stack: string): string {
  const line = /code\.js:(\d+)/.exec(stack)?.[1];
  return line === undefined ? printable(message) : `${printable(message)} (line ${line})`;
}

function printable(text: string): string {
  return text
    .slice(0, MESSAGE_LENGTH_MAX)
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
    .trim();
}
