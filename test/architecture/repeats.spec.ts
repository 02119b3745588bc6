import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestRun } from '../../tools/repeat-failed.mjs';
import { failuresOf, messagesOf, plan, REPEATED_MAX } from '../../tools/repeat-failed.mjs';

const ROOT = path.resolve(import.meta.dirname, '..', '..');

const run = (failed: readonly string[], tests: readonly string[] = ['it holds']): TestRun => ({
  wasInterrupted: false,
  testResults: [...failed, 'src/engine/retry.spec.ts'].map((suite) => {
    const status = failed.includes(suite) ? 'failed' : 'passed';
    return { name: path.join(ROOT, suite), status, assertionResults: tests.map((fullName) => ({ fullName, status })) };
  }),
});

describe('suites that failed in CI', () => {
  it('are repeated, without the ones that passed', () => {
    expect(plan(run(['test/api/send.e2e-spec.ts', 'src/http/envelope.spec.ts']))).toEqual({
      repeat: ['src/http/envelope.spec.ts', 'test/api/send.e2e-spec.ts'],
      refused: null,
    });
  });

  const judges = readdirSync(path.join(ROOT, 'test', 'durability')).filter((name) => /spec\.ts$/.test(name));
  const controls = judges.filter((name) => name.includes('controls'));

  it.each(judges.filter((name) => !controls.includes(name)))(
    '%s is not repeated, because one detected loss is a failure',
    (name) => {
      const { repeat, refused } = plan(run(['test/api/send.e2e-spec.ts', `test/durability/${name}`]));

      expect(repeat).toEqual([]);
      expect(refused).toContain(`test/durability/${name}`);
    },
  );

  it.each(controls)('%s is repeated, because the errors that it detects are injected', (name) => {
    expect(plan(run([`test/durability/${name}`])).repeat).toEqual([`test/durability/${name}`]);
  });

  it('are not repeated if they are many, if the run was interrupted, or if no suite failed', () => {
    const many = Array.from({ length: REPEATED_MAX + 1 }, (_none, i) => `test/api/a${i}.e2e-spec.ts`);

    expect(
      [plan(run(many)), plan({ ...run(many.slice(0, 1)), wasInterrupted: true }), plan(run([]))].map(
        ({ repeat }) => repeat,
      ),
    ).toEqual([[], [], []]);
    expect(plan(run(many.slice(1))).repeat).toHaveLength(REPEATED_MAX);
  });

  it('are listed with every failed test, or alone if they could not run', () => {
    expect(failuresOf(run(['test/api/send.e2e-spec.ts'], ['a', 'b']))).toEqual([
      'test/api/send.e2e-spec.ts › a',
      'test/api/send.e2e-spec.ts › b',
    ]);
    expect(failuresOf(run(['test/api/send.e2e-spec.ts'], []))).toEqual(['test/api/send.e2e-spec.ts']);
  });

  it('are described by the first lines of their messages, without colors', () => {
    const failed = {
      fullName: 'it holds',
      status: 'failed',
      failureMessages: [`\u001B[31mExpected: 1\u001B[39m${'\n    at line'.repeat(50)}`],
    };
    const [suite] = run(['test/api/send.e2e-spec.ts']).testResults;
    const messages = messagesOf({
      wasInterrupted: false,
      testResults: [
        { ...suite!, assertionResults: [failed] },
        { ...suite!, message: 'Cannot find module', assertionResults: [] },
      ],
    });

    expect(messages).toEqual([
      expect.stringMatching(/^test\/api\/send\.e2e-spec\.ts\nit holds\nExpected: 1\n( {4}at line\n?){23}$/),
      'test/api/send.e2e-spec.ts\nCannot find module',
    ]);
  });

  it.each<[string, string, number, RegExp]>([
    [
      'pass the second time are reported as flaky',
      'src/engine/retry.spec.ts',
      0,
      /flaky: src\/engine\/retry\.spec\.ts › it holds/,
    ],
    ['do not exist have failed again', 'src/engine/none.spec.ts', 1, /failed: src\/engine\/none\.spec\.ts › it holds/],
  ])('that %s', (_what, suite, code, told) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-repeats-'));
    const file = path.join(folder, 'results.json');
    try {
      const results = run([]);
      writeFileSync(file, JSON.stringify({ ...results, testResults: run([suite]).testResults.slice(0, 1) }));
      const { status, stderr } = spawnSync(process.execPath, [path.join('tools', 'repeat-failed.mjs'), file], {
        cwd: ROOT,
        encoding: 'utf8',
      });

      expect([status, stderr]).toEqual([code, expect.stringMatching(told)]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('a run without results has failed', () => {
    expect(
      spawnSync(process.execPath, [path.join('tools', 'repeat-failed.mjs'), '/nowhere/results.json'], { cwd: ROOT })
        .status,
    ).toBe(1);
  });

  it('CI runs the repetition', () => {
    expect(readFileSync(path.join(ROOT, '.ci', 'run'), 'utf8')).toMatch(
      /--json --outputFile="\$results" \|\| node tools\/repeat-failed\.mjs "\$results"/,
    );
  });
});
