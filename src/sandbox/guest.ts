import { EvalFlags, JSException, type JSValueHandle, QuickJS } from 'quickjs-wasi';
import { failure, type SandboxFailure, type SandboxOutcome, TOO_BUSY } from './outcome.js';
import { monotonicMs } from './thread-cpu.js';

/** One call, as a thread is asked to make it. */
export interface GuestCall {
  /** An ES module whose default export is the function. */
  code: string;
  /** JSON texts, one per argument; null asks only whether there is a function to call. */
  args: readonly string[] | null;
  /** Of CPU time, from the moment in which the code begins. */
  timeoutMs: number;
  /** It gives up after so much CPU time, to be made again where it is in nobody's way; null lets it go on. */
  sliceMs: number | null;
  /** It ends as busy at this time of `monotonicMs`, however little CPU time it had. */
  deadlineMs?: number;
  resultBytesMax: number;
}

/** How a call ended. */
export interface GuestResult {
  /** `overrun`: it gave up at the end of its slice. */
  outcome: SandboxOutcome | 'overrun';
  /** That the thread should not be used again: the engine broke, or its memory grew. */
  isSpoiled: boolean;
}

const MEMORY_BYTES_MAX = 64 * 1024 * 1024;
/** Above this a thread is replaced instead of waiting for its garbage collector to give the memory back. */
const MEMORY_BYTES_KEPT = 16 * 1024 * 1024;
/** Below what traps in WebAssembly: deep recursion is then a RangeError that the code itself can catch. */
const STACK_BYTES_MAX = 256 * 1024;
const MESSAGE_LENGTH_MAX = 300;
const WASI_ENOSYS = 52;

const FILE = 'code.js';
const TIMED_OUT = 'The code did not end in time.';
const OUT_OF_MEMORY = 'The code wanted more than 64 MB of memory.';
const NO_FUNCTION = 'The code has no function as its default export: write `export default (event) => event`.';

/**
 * Runs before the code, and keeps what it needs of the built-ins: whatever the code does to them afterwards,
 * a result is still the JSON of a value. `call` is async, so that a throw, a rejection and a thenable end alike.
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

/** Ends a call with this reason; the message is for whoever wrote the code. */
class Failed extends Error {
  constructor(
    readonly reason: SandboxFailure,
    message: string,
  ) {
    super(message);
  }
}

/** Makes one call in a fresh VM, which is dropped afterwards. `usedMs` is the CPU time of the thread, `rest` is called often while the code runs. Never throws. */
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
  // Whatever an interrupted VM says it ended with, the deadline is why.
  if (limit && limit.usedMs() > call.timeoutMs) return { outcome: failure('timeout', TIMED_OUT), isSpoiled };
  if (limit?.isLate) return { outcome: failure('busy', TOO_BUSY), isSpoiled };
  if (limit?.wasReached)
    return { outcome: call.sliceMs === null ? failure('timeout', TIMED_OUT) : 'overrun', isSpoiled };
  return { outcome, isSpoiled };
}

/** How much CPU time a call may use, and when it ends in any case. CPU time is dear to read, and the limit is looked at thousands of times: it is never read before it can be over. */
class Limit {
  wasReached = false;
  /** Whether the end came before the CPU time was used. */
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

/** The steps of one call. Handles are not freed one by one: they go with the VM. */
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
    // Before the code, which could otherwise tamper with how its arguments are read.
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
      // Nothing of the code has run yet: a syntax error, or the end of the stack, is the argument's.
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

  /** The end of a promise after all jobs have run; null when nothing is left that could settle it. */
  private async settle(promise: JSValueHandle): Promise<{ value: JSValueHandle } | { error: JSValueHandle } | null> {
    this.vm.executePendingJobs();
    return promise.isPromise && promise.promiseState === 0 ? null : this.vm.resolvePromise(promise);
  }

  private write(value: JSValueHandle, bytesMax: number): string | null {
    if (value.isNull || value.isUndefined) return null;
    const text = this.attempt(() => this.invoke(this.prelude.write, value));
    if ('error' in text) throw new Failed('invalid_result', `The result has no JSON: ${printable(text.error.message)}`);
    if (!text.value.isString) throw new Failed('invalid_result', `The result has no JSON: it is a ${value.typeof}.`);
    // Its own length first: a text that is too long must not even be copied out.
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

  /** What the guest throws, and where its stack ends, is a value here; what else the engine throws goes on. */
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
  // The stack of WebAssembly is V8's own: where it ends inside a built-in, the VM is lost but the thread is not.
  if (nameOf(error) === 'RangeError') return failure('threw', 'RangeError: Maximum call stack size exceeded');
  return failure('crashed', 'The engine broke while it ran the code.');
}

// By name: a trap is an error of whichever realm compiled the engine.
const nameOf = (error: unknown): string | undefined => (error as Partial<Error> | null)?.name;

const messageOf = (error: unknown): string => (error as Partial<Error> | null)?.message ?? '';

const isCrash = (outcome: SandboxOutcome): boolean => !outcome.ok && outcome.reason === 'crashed';

const isOutOfMemory = (message: string): boolean => /out of memory|wasm_malloc failed/.test(message);

function memoryBytes(vm: QuickJS | undefined): number {
  return vm?._getMemory().buffer.byteLength ?? 0;
}

/** The message with the line of the code that it comes from. */
function located(message: string, stack: string): string {
  const line = /code\.js:(\d+)/.exec(stack)?.[1];
  return line === undefined ? printable(message) : `${printable(message)} (line ${line})`;
}

/** One line of bounded length, without control characters and lone surrogates. */
function printable(text: string): string {
  return text
    .slice(0, MESSAGE_LENGTH_MAX)
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
    .trim();
}
