import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type GuestCall, type GuestResult, runGuest } from './guest.js';
import { monotonicMs } from './thread-cpu.js';

const engine = new WebAssembly.Module(
  readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')),
);

const KB_256 = 256 * 1024;

const now = (): number => performance.now();
const inThisThread = (call: GuestCall, usedMs = now): Promise<GuestResult> => runGuest(engine, call, usedMs);

/**
 * Runs code in this thread, without the pool, and returns the outcome. The code must end by itself or react to
 * interrupts.
 */
async function guest(code: string, call: Partial<GuestCall> = {}): Promise<GuestResult['outcome']> {
  const { outcome } = await inThisThread({
    code,
    args: [],
    timeoutMs: 5_000,
    sliceMs: null,
    resultBytesMax: KB_256,
    ...call,
  });
  return outcome;
}

const failed = (reason: string, message: string | RegExp): unknown => ({
  ok: false,
  reason,
  message: expect.stringMatching(message),
});

describe('a call', () => {
  it.each([
    ['a function', 'export default (a, b) => ({ sum: a + b.n })', ['1', '{"n":2}'], '{"sum":3}'],
    [
      'a named function',
      'export default function transform(event) { return event }',
      ['{"a":[1,"é",null]}'],
      '{"a":[1,"é",null]}',
    ],
    ['an async function', 'export default async (a) => { await null; return [a] }', ['"x"'], '["x"]'],
    ['a thenable', 'export default () => ({ then: (done) => done(7) })', [], '7'],
    [
      'a promise that another job settles',
      'export default () => new Promise((done) => Promise.resolve(1).then(done))',
      [],
      '1',
    ],
    ['top-level await', 'const x = await 5; export default () => x', [], '5'],
    ['null', 'export default () => null', [], null],
    ['a date', 'export default () => new Date(0)', [], '"1970-01-01T00:00:00.000Z"'],
    ['the time zone, which is UTC', 'export default () => new Date(0).getTimezoneOffset()', [], '0'],
    ['a lone surrogate', 'export default () => "\\ud800"', [], '"\\ud800"'],
    ['a NUL', 'export default (text) => text + "\\0"', ['"\\u0000"'], '"\\u0000\\u0000"'],
    ['the key __proto__', 'export default (o) => o', ['{"__proto__":1}'], '{"__proto__":1}'],
    ['what toJSON says', 'export default () => ({ toJSON: () => "mine" })', [], '"mine"'],
    ["a getter's value", 'export default () => ({ get a() { return 1 } })', [], '{"a":1}'],
  ])('returns the JSON of %s', async (_what, code, args, json) => {
    expect(await guest(code, { args })).toEqual({ ok: true, json });
  });

  it('reads its arguments before the code can tamper with the parsing', async () => {
    const code = 'JSON.parse = () => 1; Array.prototype.map = () => []; export default (a) => a';

    expect(await guest(code, { args: ['{"a":1}'] })).toEqual({ ok: true, json: '{"a":1}' });
  });

  it.each([
    ['half an object', '{'],
    ['two values', '1],[2'],
    ['no text', ''],
    ['a word', 'undefined'],
    ['open brackets', '['.repeat(100_000)],
  ])('rejects %s as an argument', async (_what, arg) => {
    expect(await guest('export default (a) => a', { args: ['1', arg] })).toEqual(failed('invalid_input', 'not JSON'));
  });

  it('accepts an argument with 500 levels, and returns it', async () => {
    const deep = `${'['.repeat(500)}${']'.repeat(500)}`;

    expect(await guest('export default (a) => a', { args: [deep] })).toEqual({ ok: true, json: deep });
  });

  it('cannot see anything of an earlier call', async () => {
    const code =
      'export default () => { const was = globalThis.left ?? [].left ?? "nothing"; ' +
      'globalThis.left = 1; Array.prototype.left = 2; return was }';

    expect([await guest(code), await guest(code)]).toEqual([
      { ok: true, json: '"nothing"' },
      { ok: true, json: '"nothing"' },
    ]);
  });
});

describe('the code', () => {
  it.each([
    ['does not parse', '\n\nexport default (a => {', 'invalid_code', /\(line 3\)$/],
    ['has no default export', 'export const a = 1', 'invalid_code', 'no function as its default export'],
    ['exports no function', 'export default { a: 1 }', 'invalid_code', 'no function as its default export'],
    ['imports a module', 'import fs from "node:fs"; export default () => fs', 'invalid_code', 'could not load module'],
    ['imports at run time', 'export default () => import("node:fs")', 'threw', 'could not load module'],
    [
      'throws at its top level',
      '\nthrow new TypeError("no")',
      'invalid_code',
      'TypeError: no (line 2)'.replace(/[()]/g, '\\$&'),
    ],
    ['waits at its top level', 'await new Promise(() => {}); export default () => 1', 'invalid_code', 'top level'],
    [
      'throws an error',
      'export default () => {\n  throw new RangeError("far") }',
      'threw',
      /^RangeError: far \(line 2\)$/,
    ],
    ['rejects', 'export default async () => { throw new Error("later") }', 'threw', /^Error: later/],
    ['throws a string', 'export default () => { throw "text" }', 'threw', /^text$/],
    ['throws null', 'export default () => { throw null }', 'threw', /^null$/],
    ['throws undefined', 'export default () => { throw undefined }', 'threw', /^undefined$/],
    ['throws a symbol', 'export default () => { throw Symbol("s") }', 'threw', /^Symbol\(s\)$/],
    ['throws an object', 'export default () => { throw { code: 7 } }', 'threw', /^\{"code":7\}$/],
    [
      "throws what can't be shown",
      'export default () => { throw { get toJSON() { throw this } } }',
      'threw',
      "can't be shown",
    ],
    [
      'throws a hostile error',
      'export default () => { const e = new Error(); ' +
        'Object.defineProperty(e, "message", { get() { throw e } }); throw e }',
      'threw',
      "can't be shown",
    ],
    [
      'throws a proxy',
      'export default () => { throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } }) }',
      'threw',
      "can't be",
    ],
    ['throws a long message', 'export default () => { throw "x".repeat(1e6) }', 'threw', /^x{300}$/],
    ['throws control characters', 'export default () => { throw "a\\r\\nb\\x1b\\ud800c" }', 'threw', /^a b c$/],
    [
      'returns a promise that never settles',
      'export default () => new Promise(() => {})',
      'invalid_result',
      "can't settle",
    ],
    ['returns nothing', 'export default () => {}', 'invalid_result', 'The code returned undefined. Return'],
    ['returns a value whose JSON is null', 'export default () => NaN', 'invalid_result', 'its JSON is null'],
    ['returns a function', 'export default () => () => 1', 'invalid_result', 'it is a function'],
    ['returns a symbol', 'export default () => Symbol()', 'invalid_result', 'it is a symbol'],
    ['returns a big integer', 'export default () => 1n', 'invalid_result', 'has no JSON'],
    ['returns a circle', 'export default () => { const a = []; a.push(a); return a }', 'invalid_result', 'has no JSON'],
    [
      'has a getter that throws',
      'export default () => ({ get a() { throw new Error("no") } })',
      'invalid_result',
      'has no JSON',
    ],
    ['has a toJSON that throws', 'export default () => ({ toJSON() { throw null } })', 'invalid_result', 'has no JSON'],
    [
      'has an endless toJSON',
      'export default () => ({ toJSON() { return { a: { toJSON: this.toJSON } } } })',
      'invalid_result',
      'call stack',
    ],
    ['returns 10 MB', 'export default () => "x".repeat(10e6)', 'result_too_large', '262144 bytes'],
    [
      'returns 256 KB in two-byte characters',
      'export default () => "é".repeat(200_000)',
      'result_too_large',
      '262144 bytes',
    ],
    ['recurses forever', 'export default function f() { return f() + 1 }', 'threw', 'call stack'],
    [
      'returns deep JSON',
      'export default () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a }',
      'invalid_result',
      'call stack',
    ],
    ['nests deep source', 'export default () => eval("(".repeat(1e6))', 'threw', 'call stack'],
  ])('that %s ends with a failure', async (_what, code, reason, message) => {
    expect(await guest(code)).toEqual(failed(reason, message));
  });

  it.each([
    ['JSON.stringify', 'JSON.stringify = () => "{broken"'],
    ['Reflect.apply and slices', 'Reflect.apply = String.prototype.slice = null'],
    ['promises', 'Promise.resolve = Promise.prototype.finally = null'],
    ['iteration', 'delete Array.prototype[Symbol.iterator]'],
  ])('that replaces %s still returns the JSON of its value', async (_what, tampering) => {
    expect(await guest(`${tampering}; export default async (a) => ({ a })`, { args: ['1'] })).toEqual({
      ok: true,
      json: '{"a":1}',
    });
  });

  it('returns a result of exactly the maximum size, but not one byte more', async () => {
    const code = 'export default (n) => "x".repeat(n)';

    expect(await guest(code, { args: ['98'], resultBytesMax: 100 })).toEqual({ ok: true, json: `"${'x'.repeat(98)}"` });
    expect(await guest(code, { args: ['99'], resultBytesMax: 100 })).toEqual(failed('result_too_large', '100 bytes'));
  });
});

describe('isolation of the code', () => {
  it.each([
    'process',
    'require',
    'module',
    'fetch',
    'setTimeout',
    'setInterval',
    'setImmediate',
    'queueMicrotask.constructor.process',
    'Buffer',
    'WebAssembly',
    'Worker',
    'std',
    'os',
    'scriptArgs',
    'print',
    'Deno',
    'Bun',
    'XMLHttpRequest',
    'global',
    'window',
  ])('has no %s', async (name) => {
    expect(await guest(`export default () => typeof globalThis.${name}`)).toEqual({ ok: true, json: '"undefined"' });
  });

  it.each([
    'constructor.constructor("return process")()',
    '(() => {}).constructor("return this.process.env")()',
    'new Error().constructor.constructor("return require")()("fs")',
    '(async () => {}).constructor("return process")()',
    'Function("return import.meta.dirname")()',
    'eval("process.exit(1)")',
  ])('holds against %s', async (expression) => {
    expect(await guest(`export default () => ${expression}`)).toEqual(
      failed('threw', /not defined|cannot read|SyntaxError|not a function/),
    );
  });
});

describe('a bomb affects only its own call', () => {
  it.each([
    ['an endless loop', 'export default () => { for (;;); }'],
    ['a loop that catches everything', 'export default () => { for (;;) try { for (;;); } catch {} finally {} }'],
    ['a loop at the top level', 'for (;;); export default () => 1'],
    ['a regular expression', 'export default () => /^(a+)+$/.test("a".repeat(40) + "!")'],
    [
      'a loop of microtasks',
      'export default () => { const again = () => Promise.resolve().then(again); return again() }',
    ],
    ['an async loop', 'export default async () => { for (;;) await null }'],
    ['a generator', 'export default () => [...(function* () { for (;;) yield })().filter(() => false)]'],
    ['a getter of the result', 'export default () => ({ get a() { for (;;); } })'],
    ['toJSON of the result', 'export default () => ({ toJSON() { for (;;); } })'],
    ['a getter of the error', 'export default () => { throw { get toJSON() { for (;;); } } }'],
    ['a thenable', 'export default () => ({ then() { for (;;); } })'],
    ['a sort', 'export default () => [1, 2, 3].sort(() => { for (;;); })'],
    ['a proxy', 'export default new Proxy(() => 1, { apply() { for (;;); } })'],
  ])('of time: %s', async (_what, code) => {
    expect(await guest(code, { timeoutMs: 50 })).toEqual(failed('timeout', 'in time'));
  });

  // The code first allocates 40 of the 64 MB, so that the many small values reach the limit sooner.
  it.each([
    ['arrays', 'const a = []; for (;;) a.push([1, 2, 3])'],
    ['one array', 'new Array(2 ** 28).fill(1)'],
    ['strings', 'const a = []; for (let i = 0; ; i++) a.push(`${i}`.repeat(1000))'],
    ['one string', 'let s = "x".repeat(2 ** 28); return s + s'],
    ['typed arrays', 'const a = []; for (;;) a.push(new Uint8Array(2 ** 20))'],
    ['one typed array', 'new Float64Array(2 ** 27)'],
    ['objects', 'const o = {}; for (let i = 0; ; i++) o[`k${i}`] = { i }'],
    ['closures', 'let f = () => 0; for (;;) { const g = f; f = () => g; }'],
    ['a map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)'],
    ['promises', 'const a = []; for (;;) a.push(new Promise(() => {}))'],
  ])('of memory: %s', async (_what, statements) => {
    const result = await inThisThread({
      code: `const held = new Uint8Array(40 * 2 ** 20); export default () => { ${statements} }`,
      args: [],
      timeoutMs: 20_000,
      sliceMs: null,
      resultBytesMax: KB_256,
    });

    expect(result.outcome).toEqual(failed('memory', '64 MB'));
  });

  it('allows 48 MB, but not 80 MB', async () => {
    const code = 'export default (megabytes) => new Uint8Array(megabytes * 2 ** 20).length';

    expect(await guest(code, { args: ['48'] })).toEqual({ ok: true, json: String(48 * 2 ** 20) });
    expect(await guest(code, { args: ['80'] })).toEqual(failed('memory', '64 MB'));
  });

  it('the code can catch a stack overflow', async () => {
    const code =
      'const f = () => f() + 1; export default () => { try { return f() } catch (error) { return error.name } }';

    expect(await guest(code)).toEqual({ ok: true, json: '"RangeError"' });
  });

  it('out of memory that is caught and retried', async () => {
    const code =
      'export default () => { for (;;) try { const a = []; for (;;) a.push(new Uint8Array(2 ** 20)) } catch {} }';

    expect(await guest(code, { timeoutMs: 300 })).toEqual(failed('timeout', 'in time'));
  });

  it('marks the thread as spoiled only when memory grew', async () => {
    const call = { args: [], timeoutMs: 20_000, sliceMs: null, resultBytesMax: KB_256 };

    const small = await inThisThread({ ...call, code: 'export default () => 1' });
    const large = await inThisThread({ ...call, code: 'export default () => new Uint8Array(2 ** 25).length' });

    expect([small.isSpoiled, large.isSpoiled]).toEqual([false, true]);
  });
});

describe('a slice', () => {
  const call = {
    code: 'export default () => { for (;;); }',
    args: [],
    timeoutMs: 5_000,
    sliceMs: 20,
    resultBytesMax: KB_256,
  };

  it('ends a call that exceeds it, and the call may be repeated', async () => {
    expect(await inThisThread(call)).toEqual({ outcome: 'overrun', isSpoiled: false });
    expect(await inThisThread({ ...call, code: 'export default () => 1' })).toMatchObject({
      outcome: { ok: true, json: '1' },
    });
  });

  it('counts CPU time like the time-out: waiting on a busy machine does not count', async () => {
    const starved = (): number => performance.now() / 20;
    const work = 'export default () => { const end = Date.now() + 60; while (Date.now() < end); return 1 }';

    expect(await inThisThread({ ...call, code: work }, starved)).toMatchObject({ outcome: { ok: true, json: '1' } });
    expect(await inThisThread({ ...call, code: work, sliceMs: null, timeoutMs: 20 }, starved)).toMatchObject({
      outcome: { ok: true, json: '1' },
    });
    expect(await inThisThread({ ...call, sliceMs: null, timeoutMs: 20 }, starved)).toMatchObject({
      outcome: failed('timeout', 'in time'),
    });
  });
});

describe('a deadline', () => {
  const LOOP = 'export default () => { for (;;); }';
  const starved = (): number => 0;
  const call = { code: LOOP, args: [], timeoutMs: 5_000, sliceMs: null, resultBytesMax: KB_256 };

  it.each([
    ['a call', null],
    ['a first try', 20],
  ])('ends %s with unused CPU time as busy, which is not the fault of the code', async (_what, sliceMs) => {
    expect(await inThisThread({ ...call, sliceMs, deadlineMs: monotonicMs() + 20 }, starved)).toMatchObject({
      outcome: failed('busy', 'too busy'),
    });
  });

  it('does not hide a timeout: code that used up its CPU time ends as timeout', async () => {
    expect(await inThisThread({ ...call, timeoutMs: 20, deadlineMs: monotonicMs() + 60_000 })).toMatchObject({
      outcome: failed('timeout', 'in time'),
    });
  });

  it('in the past ends code at its first interrupt, but not code without interrupts', async () => {
    expect(await inThisThread({ ...call, deadlineMs: monotonicMs() - 1 }, starved)).toMatchObject({
      outcome: failed('busy', 'too busy'),
    });
    expect(
      await inThisThread({ ...call, code: 'export default () => 1', deadlineMs: monotonicMs() + 60_000 }),
    ).toMatchObject({ outcome: { ok: true, json: '1' } });
  });
});

describe('a check', () => {
  const check = (code: string): Promise<GuestResult['outcome']> => guest(code, { args: null });

  it('runs the top level, but not the function', async () => {
    expect(await check('export default () => { throw new Error("called") }')).toEqual({ ok: true, json: null });
    expect(await check('null.x; export default () => 1')).toEqual(failed('invalid_code', 'TypeError'));
  });
});
