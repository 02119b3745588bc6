import { randomBytes } from 'node:crypto';
import { EvalFlags, JSException, type JSValueHandle, QuickJS } from 'quickjs-wasi';
import { installLibrary } from './guest-library.js';
import { LogCollector, SecretMask } from './logs.js';
import { NUMBERS, withSpellings } from './number-spellings.js';
import { failure, type SandboxFailure, type SandboxOutcome, TOO_BUSY } from './outcome.js';
import { monotonicMs } from './thread-cpu.js';

export interface GuestCall {
  /** Source of an ES module whose default export is the function to call. */
  code: string;
  /** Arguments, each as JSON text. If null, the call only checks whether the default export is a function. */
  args: readonly string[] | null;
  /** Limit of CPU time, measured from the start of the code. */
  timeoutMs: number;
  /** CPU time after which the call is abandoned and repeated on a thread for slow code. Null for no limit. */
  sliceMs: number | null;
  /**
   * Deadline on the clock of `monotonicMs`. At the deadline, the call ends as `busy`, regardless of how little CPU time
   * it got.
   */
  deadlineMs?: number;
  resultBytesMax: number;
  /** Body as bytes. The first argument, an object, gets it as `rawBody`, and its text as `raw`. */
  body?: Uint8Array;
  /** JSON text of the numbers in the first argument's `body` that JavaScript would write differently. */
  spellings?: string | null;
  /** Values of secrets, which are masked in error messages and in the console's output. */
  secrets?: readonly string[];
}

export interface GuestResult {
  /**
   * `overrun` means that the call used up its CPU slice (`sliceMs`) and was abandoned, to be repeated on a thread for
   * slow code.
   */
  outcome: SandboxOutcome | 'overrun';
  /** True if the thread should not be used again, because the engine failed or its memory grew. */
  isSpoiled: boolean;
}

const MEMORY_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Memory above which a thread is replaced. Waiting for garbage collection to release the memory would take too long.
 */
const MEMORY_BYTES_KEPT = 16 * 1024 * 1024;
/** Stack limit of guest code. It is below WebAssembly's own, so that code can catch deep recursion as a RangeError. */
const STACK_BYTES_MAX = 256 * 1024;
const MESSAGE_LENGTH_MAX = 300;
const WASI_ENOSYS = 52;

const FILE = 'code.js';
/**
 * Factor by which a result may exceed its size limit inside the VM. Inside the VM, a long mark precedes each number
 * whose original spelling is kept. The marks are removed later.
 */
const MARKED_FACTOR = 8;

const RETURNED_UNDEFINED = 'The code returned undefined. Return a value, or null.';
const TIMED_OUT = 'The code did not end in time.';
const OUT_OF_MEMORY = 'The code needed more than 64 MB of memory.';
const NO_FUNCTION = 'The code has no function as its default export: write `export default (event) => event`.';

/**
 * Code that runs before the guest's code and saves the built-ins that it needs, so that results are correct JSON even
 * if the guest changes built-ins. `call` is async, so that throws, rejections and thenables have the same effect.
 */
const PRELUDE = `(() => {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { defineProperties } = Object;
  const { slice } = String.prototype;
  const NativeError = Error, NativeString = String;
  const cut = (value) => apply(slice, NativeString(value), [0, ${MESSAGE_LENGTH_MAX}]);
  return {
    read: (texts, raw, rawBody) => {
      const values = texts.map((text) => parse(text));
      // raw and rawBody are not enumerable, so that a copy of the event that the code returns does not have them.
      if (raw !== undefined) defineProperties(values[0], { raw: { value: raw }, rawBody: { value: rawBody } });
      return values;
    },
    call: async (main, args) => apply(main, undefined, args),
    write: (value, replacer) => stringify(value, replacer),
    describe: (error) => {
      const isError = error instanceof NativeError;
      return cut(isError || typeof error !== 'object' ? NativeString(error) : stringify(error)) + '\\0' + cut(isError ? error.stack : '');
    },
  };
})()`;

interface Numbers {
  /**
   * Prefix that marks a string as the original spelling of a number. No other string of the result contains this
   * prefix.
   */
  mark: string;
  replacer: JSValueHandle;
}

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
  const mask = new SecretMask(call.secrets ?? []);
  const logs = new LogCollector(mask);
  const isOver = (): boolean => {
    rest?.();
    return limit?.isReached() ?? false;
  };
  try {
    vm = await QuickJS.create({
      wasm: engine,
      memoryLimit: MEMORY_BYTES_MAX,
      maxStackSize: STACK_BYTES_MAX,
      timezoneOffset: 0,
      interruptHandler: isOver,
      wasi: () => ({ fd_write: () => WASI_ENOSYS }),
    });
    limit = new Limit(Math.min(call.timeoutMs, call.sliceMs ?? Infinity), usedMs, endMs);
    installLibrary(vm, call.code, logs, isOver);
    outcome = { ok: true, json: await new Guest(vm, mask).run(call) };
  } catch (error) {
    outcome = failureOf(error, mask);
    isTrapped = nameOf(error) === 'RuntimeError' || (isCrash(outcome) && limit?.wasReached !== true);
  }
  const isSpoiled = isTrapped || memoryBytes(vm) > MEMORY_BYTES_KEPT;
  const ended = limit === undefined ? outcome : withinLimit(outcome, limit, call);
  if (ended === 'overrun' || logs.logs === null) return { outcome: ended, isSpoiled };
  return { outcome: { ...ended, logs: logs.logs }, isSpoiled };
}

/**
 * If a limit was reached, returns the outcome for this limit, because the VM may report any error after an interrupt.
 * Otherwise returns `outcome`.
 */
function withinLimit(outcome: SandboxOutcome, limit: Limit, call: GuestCall): GuestResult['outcome'] {
  if (limit.usedMs() > call.timeoutMs) return failure('timeout', TIMED_OUT);
  if (limit.isLate) return failure('busy', TOO_BUSY);
  if (!limit.wasReached) return outcome;
  return call.sliceMs === null ? failure('timeout', TIMED_OUT) : 'overrun';
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

  constructor(
    private readonly vm: QuickJS,
    private readonly mask: SecretMask,
  ) {
    const prelude = vm.evalCode(PRELUDE, 'prelude.js');
    const [read, call, write, describe] = ['read', 'call', 'write', 'describe'].map((name) =>
      prelude.getProp(name),
    ) as [JSValueHandle, JSValueHandle, JSValueHandle, JSValueHandle];
    this.prelude = { read, call, write, describe };
  }

  async run({ code, args, resultBytesMax, body, spellings }: GuestCall): Promise<string | null> {
    // Parses the arguments before the code runs, because the code could tamper with the parsing.
    const values = args === null ? null : this.read(args, body);
    const numbers = values && spellings ? this.numbersOf(values, spellings) : null;
    const main = await this.load(code);
    if (values === null) return null;
    const settled = await this.settle(this.invoke(this.prelude.call, main, values));
    if (settled === null)
      throw new Failed('invalid_result', "The promise that the code returned can't settle any more.");
    if ('error' in settled) throw new Failed('threw', this.describe(settled.error));
    return this.write(settled.value, resultBytesMax, numbers);
  }

  private read(args: readonly string[], body: Uint8Array | undefined): JSValueHandle {
    const { vm } = this;
    try {
      const raw = body === undefined ? [] : [vm.newString(Buffer.from(body).toString()), vm.newUint8Array(body)];
      return this.invoke(this.prelude.read, vm.hostToHandle([...args]), ...raw);
    } catch (error) {
      // No guest code has run yet, so a syntax error or stack overflow is due to the argument.
      if (isOutOfMemory(messageOf(error))) throw error;
      throw new Failed('invalid_input', 'An argument is not JSON, or is nested too deeply.');
    }
  }

  /** Returns the original spellings of the body's numbers, or null if the body is nested too deeply. */
  private numbersOf(values: JSValueHandle, spellings: string): Numbers | null {
    const { vm } = this;
    const mark = randomBytes(4).toString('hex');
    const replacer = this.attempt(() =>
      this.invoke(vm.evalCode(NUMBERS, 'prelude.js'), values, vm.newString(spellings), vm.newString(mark)),
    );
    return 'error' in replacer ? null : { mark, replacer: replacer.value };
  }

  private async load(code: string): Promise<JSValueHandle> {
    const module = this.attempt(() => this.vm.evalCode(code, FILE, EvalFlags.TYPE_MODULE));
    if ('error' in module)
      throw new Failed('invalid_code', located(module.error.message, module.error.stack ?? '', this.mask));
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

  private write(value: JSValueHandle, bytesMax: number, numbers: Numbers | null): string | null {
    if (value.isNull) return null;
    if (value.isUndefined) throw new Failed('invalid_result', RETURNED_UNDEFINED);
    const text = this.attempt(() => this.invoke(this.prelude.write, value, ...(numbers ? [numbers.replacer] : [])));
    if ('error' in text)
      throw new Failed('invalid_result', `The result has no JSON form: ${printable(text.error.message, this.mask)}`);
    if (!text.value.isString)
      throw new Failed('invalid_result', `The result has no JSON form: it is a ${value.typeof}.`);
    // Checks the string's length inside the VM first, because a text that is too long must not even be copied out.
    const isTooLong = text.value.length > bytesMax * (numbers ? MARKED_FACTOR : 1);
    const json = isTooLong ? null : withSpellings(text.value.toString(), numbers?.mark);
    if (json === null || Buffer.byteLength(json) > bytesMax) {
      throw new Failed('result_too_large', `The result is longer than ${bytesMax} bytes of JSON.`);
    }
    if (json === 'null') throw new Failed('invalid_result', 'The result has no JSON form: its JSON is null.');
    return json;
  }

  private describe(error: JSValueHandle): string {
    const text = this.attempt(() => this.invoke(this.prelude.describe, error));
    if ('error' in text || !text.value.isString) return "The code threw something that can't be shown.";
    const [message = '', stack = ''] = text.value.toString().split('\0');
    return located(message, stack, this.mask);
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

function failureOf(error: unknown, mask: SecretMask): SandboxOutcome {
  const message = messageOf(error);
  if (isOutOfMemory(message)) return failure('memory', OUT_OF_MEMORY);
  if (error instanceof Failed) return failure(error.reason, error.message);
  if (error instanceof JSException) return failure('threw', printable(message, mask));
  // WebAssembly shares V8's stack. An overflow inside a built-in breaks the VM, but not the thread.
  if (nameOf(error) === 'RangeError') return failure('threw', 'RangeError: Maximum call stack size exceeded');
  return failure('crashed', 'The engine failed while it ran the code.');
}

// Returns an error's name for comparisons. `instanceof` would fail for a WebAssembly trap, which belongs to the realm
// that compiled the engine.
const nameOf = (error: unknown): string | undefined => (error as Partial<Error> | null)?.name;

const messageOf = (error: unknown): string => (error as Partial<Error> | null)?.message ?? '';

const isCrash = (outcome: SandboxOutcome): boolean => !outcome.ok && outcome.reason === 'crashed';

const isOutOfMemory = (message: string): boolean => /out of memory|wasm_malloc failed/.test(message);

function memoryBytes(vm: QuickJS | undefined): number {
  return vm?._getMemory().buffer.byteLength ?? 0;
}

function located(message: string, stack: string, mask: SecretMask): string {
  const line = /code\.js:(\d+)/.exec(stack)?.[1];
  return line === undefined ? printable(message, mask) : `${printable(message, mask)} (line ${line})`;
}

function printable(text: string, mask: SecretMask): string {
  return mask
    .apply(text.slice(0, MESSAGE_LENGTH_MAX), text.length >= MESSAGE_LENGTH_MAX)
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
    .trim();
}
