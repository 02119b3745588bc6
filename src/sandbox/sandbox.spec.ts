import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';
import type { CpuBudget } from './cpu-budget.js';
import { SHARE, USED } from './cpu-throttle.js';
import type { SandboxOutcome } from './outcome.js';
import { Sandbox, type SandboxCall } from './sandbox.js';

const MB = 1024 * 1024;
const LOOP = 'export default () => { for (;;); }';
/** Code that calls a built-in which ignores interrupts, so that only the parent can end the call. */
const DEAF_LOOP = 'export default () => new Array(2 ** 32 - 1).join("")';
const ECHO = 'export default (value) => value';

const THREAD_FILES = [
  'engine/code-logs',
  'kernel/crypto/sensitive-headers',
  'kernel/tenant',
  ...[
    'call-thread',
    'cpu-throttle',
    'guest',
    'guest-library',
    'logs',
    'number-spellings',
    'outcome',
    'thread-cpu',
    'worker',
  ].map((name) => `sandbox/${name}`),
];

const root = path.resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-sandbox-'));
let sandbox: Sandbox;

// Worker threads cannot load the sources that Jest compiles in memory, so their sources are compiled to files here.
beforeAll(() => {
  const jsc = { target: 'es2023', parser: { syntax: 'typescript' } } as const;
  for (const file of THREAD_FILES) {
    const { code } = transformSync(readFileSync(path.join(root, 'src', `${file}.ts`), 'utf8'), {
      jsc,
      swcrc: false,
      module: { type: 'es6' },
    });
    const compiled = path.join(folder, `${file}.js`);
    mkdirSync(path.dirname(compiled), { recursive: true });
    writeFileSync(compiled, code);
  }
  const imports = { '#engine/*': './engine/*', '#kernel/*': './kernel/*' };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ type: 'module', imports }));
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function start(): void {
  sandbox = new Sandbox({ workerFile: pathToFileURL(path.join(folder, 'sandbox/worker.js')) });
}

const stop = (): Promise<void> => sandbox.close();

const run = (code: string, call: Partial<SandboxCall> = {}): Promise<SandboxOutcome> =>
  sandbox.run({ code, args: ['1'], timeoutMs: 10_000, organization: 'a', endpoint: 'a', ...call });

const failed = (reason: string): unknown => ({ ok: false, reason, message: expect.any(String) });
const ok = (json: string | null): unknown => ({ ok: true, json });

describe('run', () => {
  beforeEach(start);
  afterEach(stop);

  it('starts no thread before the first call, and reuses its threads', async () => {
    expect(sandbox.figures()).toEqual({ running: 0, slow: 0, queued: 0, workers: 0, restarts: 0 });

    for (let i = 0; i < 5; i += 1) expect(await run(ECHO, { args: [String(i)] })).toEqual(ok(String(i)));

    expect(sandbox.figures()).toMatchObject({ running: 0, slow: 0, queued: 0, restarts: 0 });
    expect(sandbox.figures().workers).toBeLessThanOrEqual(2);
  });

  it('returns to each of many calls its own result', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, i) => run(ECHO, { args: [String(i)], organization: `k${i % 7}` })),
    );

    expect(outcomes).toEqual(Array.from({ length: 100 }, (_, i) => ok(String(i))));
    expect(sandbox.figures()).toEqual({ running: 0, slow: 0, queued: 0, workers: 2, restarts: 0 });
  });

  it('replaces a terminated thread', async () => {
    await run(DEAF_LOOP, { timeoutMs: 50 });
    await run(ECHO);

    expect(sandbox.figures()).toMatchObject({ running: 0, queued: 0, restarts: 1 });
  });

  it('keeps nothing of a call for the next one on the same thread', async () => {
    const code = 'export default () => { const was = globalThis.left ?? 0; globalThis.left = 1; return was }';

    expect([await run(code), await run(code)]).toEqual([ok('0'), ok('0')]);
  });

  it('keeps the memory of the process bounded over many bombs', async () => {
    const bomb = 'export default () => { const a = []; for (;;) a.push(new Uint8Array(2 ** 20).fill(1)) }';
    await run(bomb);
    const before = process.memoryUsage.rss();

    for (let i = 0; i < 10; i += 1) expect(await run(bomb)).toEqual(failed('memory'));

    // Each call uses 64 MB. If the memory were not released, the process would grow by over 600 MB.
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * MB);
  });
});

describe('run, with the same threads for all calls', () => {
  beforeAll(start);
  afterAll(stop);

  it.each([
    ['an endless loop', LOOP, 50, 'timeout'],
    ['a built-in that never ends', DEAF_LOOP, 50, 'timeout'],
    [
      'an endless search',
      'export default () => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
      50,
      'timeout',
    ],
    [
      'a memory bomb',
      'export default () => { const a = []; for (;;) a.push(new Uint8Array(2 ** 20)) }',
      10_000,
      'memory',
    ],
    ['deep recursion', 'export default function f() { return f() + 1 }', 10_000, 'threw'],
    [
      'a deep result',
      'export default () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a }',
      10_000,
      'invalid_result',
    ],
    [
      'a deep chain of proxies',
      'export default () => { let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x }',
      10_000,
      'threw',
    ],
    [
      'a deep chain of bound functions',
      'export default () => { let p = () => 1; for (let i = 0; i < 1e5; i++) p = p.bind(); return p() }',
      10_000,
      'memory',
    ],
    ['a deep pattern', 'export default () => new RegExp("(?:".repeat(1e6))', 10_000, 'threw'],
    ['an error with a message of 30 MB', 'export default () => { throw new Error("x".repeat(3e7)) }', 10_000, 'threw'],
    ['a syntax error in a long line', `export default () => "${'x'.repeat(60_000)}`, 10_000, 'invalid_code'],
  ])('%s affects its own call and not the next one', async (_what, code, timeoutMs, reason) => {
    expect(await run(code, { timeoutMs })).toEqual(failed(reason));
    expect(await run(ECHO)).toEqual(ok('1'));
  });

  it.each([
    ['code over 64 KB', { code: `${ECHO}//${'x'.repeat(65_536)}` }, 'invalid_code'],
    ['input over the limit', { args: ['"xxxx"', '1'], inputBytesMax: 6 }, 'invalid_input'],
    ['a result over the limit', { args: ['"xxxx"'], resultBytesMax: 5 }, 'result_too_large'],
  ])('refuses %s', async (_what, call, reason) => {
    expect(await run(ECHO, call)).toEqual(failed(reason));
    expect(await run(ECHO)).toEqual(ok('1'));
  });
});

describe('run, without threads', () => {
  it("returns crashed, without rejecting, when the thread can't start", async () => {
    const broken = new Sandbox({ workerFile: pathToFileURL(path.join(folder, 'missing.js')) });

    expect(await broken.run({ code: ECHO, args: ['1'], timeoutMs: 100, organization: 'a', endpoint: 'a' })).toEqual(
      failed('crashed'),
    );
    await broken.close();
  });
});

describe('neighbours', () => {
  beforeEach(start);
  afterEach(stop);

  const loops = (): Promise<SandboxOutcome>[] =>
    ['x', 'y'].flatMap((organization) =>
      [1, 2, 3].map((n) => run(LOOP, { timeoutMs: 5_000, organization, endpoint: `loop ${n}` })),
    );

  it('of looping code are served while it loops: other organizations, other endpoints, and the same endpoint', async () => {
    const ended: string[] = [];
    for (const loop of loops()) void loop.then(() => ended.push('loop'));

    for (let i = 0; i < 5; i += 1) {
      expect(await run(ECHO, { organization: 'b' })).toEqual(ok('1'));
      expect(await run(ECHO, { organization: 'x', endpoint: 'other' })).toEqual(ok('1'));
      expect(await run(ECHO, { organization: 'y', endpoint: 'loop 1' })).toEqual(ok('1'));
    }

    expect(ended).toEqual([]);
    // Waits until endless loops run on two slow threads, to which they move after their slice of CPU time. This takes
    // longer on a busy machine.
    while (ended.length === 0 && sandbox.figures().slow < 2) await sleep(20);
    expect(ended).toEqual([]);
  });

  it('that are slow but legitimate are served while others loop', async () => {
    const ended: string[] = [];
    for (const loop of loops()) void loop.then(() => ended.push('loop'));
    const slow = 'export default () => { let n = 0; for (let i = 0; i < 3e6; i += 1) n += i; return n > 0 }';

    expect(await run(slow, { organization: 'b', timeoutMs: 5_000 })).toEqual(ok('true'));

    expect(ended).toEqual([]);
  });

  it('of a built-in that ignores interrupts are served while it runs', async () => {
    const deaf = [1, 2].map((n) => run(DEAF_LOOP, { timeoutMs: 1_500, organization: `deaf ${n}` }));
    const ended: string[] = [];
    for (const call of deaf) void call.then(() => ended.push('deaf'));

    expect(await run(ECHO, { organization: 'b' })).toEqual(ok('1'));

    expect(ended).toEqual([]);
    // The calls time out, or end as `busy` on a machine without CPU time for them.
    expect((await Promise.all(deaf)).map(({ ok: isOk }) => isOk)).toEqual([false, false]);
  });
});

describe('throttled slow code', () => {
  afterEach(stop);

  /** Returns a CPU budget with a share of 1/1000, with which slow code sleeps almost all the time. */
  function crowded(): { cells: Int32Array; begun: number } {
    const cells = new Int32Array(new SharedArrayBuffer(8));
    cells[SHARE] = 1;
    const state = { cells, begun: 0 };
    const pace = { cells, onStart: () => (state.begun += 1), onEnd: () => (state.begun -= 1) } as unknown as CpuBudget;
    sandbox = new Sandbox({ pace, workerFile: pathToFileURL(path.join(folder, 'sandbox/worker.js')) });
    return state;
  }

  const SLOW = 'export default () => { let n = 0; for (let i = 0; i < 1e7; i += 1) n += i; return n > 0 }';

  it('sleeps while throttled, continues at once when it is not, and does not time out because of it', async () => {
    const state = crowded();
    const slow = run(SLOW, { timeoutMs: 9_000 });
    while (Atomics.load(state.cells, USED) === 0) await sleep(20);
    expect(state.begun).toBe(1);
    expect(await run(ECHO)).toEqual(ok('1'));
    const used = Atomics.load(state.cells, USED);
    await sleep(300);
    // With a share of 1/1000, the code can have run for at most one slice during the sleep.
    expect(Atomics.load(state.cells, USED) - used).toBeLessThan(100_000);
    expect(state.begun).toBe(1);

    Atomics.store(state.cells, SHARE, 0);
    Atomics.notify(state.cells, SHARE);

    expect(await slow).toEqual(ok('true'));
    expect(state.begun).toBe(0);
  });

  it('ends at once when the service stops, also while it sleeps', async () => {
    const state = crowded();
    const slow = run(LOOP);
    while (Atomics.load(state.cells, USED) === 0) await sleep(20);

    await sandbox.close();

    expect(await slow).toEqual(failed('busy'));
  });
});

describe('check', () => {
  const NOT_CHECKED = 'The code could not be checked just now: send the request again.';

  beforeAll(start);
  afterAll(stop);

  it.each([
    ['export default (event) => event', null],
    ['export default async function transform() {}', null],
    ['export default class {}', null],
    ['export default 1', 'The code has no function as its default export: write `export default (event) => event`.'],
    ['export default (', "unexpected token in expression: '' (line 1)"],
    ['\n\nlet 1', 'variable name expected (line 3)'],
    ['import "fs"; export default () => 1', "could not load module 'fs'"],
    ['for (;;); export default () => 1', 'The code did not end in time.'],
    ['x'.repeat(70_000), 'The code is longer than 65536 bytes.'],
  ])(
    'says of %.40j: %s',
    async (code, sentence) => {
      // On a busy machine, the call may get no CPU time. The result is then `NOT_CHECKED`, and the test tries again.
      let answer = await sandbox.check(code, 'a');
      for (let tries = 1; answer === NOT_CHECKED && tries < 40; tries += 1) answer = await sandbox.check(code, 'a');

      expect(answer).toBe(sentence);
    },
    200_000,
  );

  it('does not accept code that could not be checked', async () => {
    await sandbox.close();

    expect(await sandbox.check(ECHO, 'a')).toBe(NOT_CHECKED);
  });
});

describe('close', () => {
  beforeEach(start);

  it('terminates running calls, ends waiting ones, and rejects later ones', async () => {
    const calls = [run(LOOP), run(ECHO)];

    await sandbox.close();

    expect(await Promise.all([...calls, run(ECHO)])).toEqual([failed('busy'), failed('busy'), failed('busy')]);
    expect(sandbox.figures()).toMatchObject({ queued: 0, workers: 0 });
  });
});
