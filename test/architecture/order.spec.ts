import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Test } from '@jest/test-result';
import LongestFirst, { LONG } from '../support/longest-first.mjs';

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** Returns a test as Jest's sequencer gets it without cached timings: with the size of the suite's file. */
const test = (suite: string, size: number): Test =>
  ({
    path: path.join(ROOT, suite),
    context: { config: { cache: false }, hasteFS: { getSize: () => size } },
  }) as unknown as Test;

describe('the order of suites without cached timings', () => {
  it.each(LONG)('%s is there', (suite) => {
    expect(existsSync(path.join(ROOT, suite))).toBe(true);
  });

  it('known slow suites come first, in their listed order, then suites with servers by size, then the others by size', () => {
    const [longest, long] = LONG as [string, string];
    const tests = [
      test('src/a.spec.ts', 1),
      test('test/api/a.e2e-spec.ts', 3),
      test(long, 2),
      test('src/b.spec.ts', 9),
      test('test/api/b.e2e-spec.ts', 4),
      test(longest, 1),
    ];

    const sorted = new LongestFirst().sort(tests);

    expect([...sorted].map((each) => path.relative(ROOT, each.path))).toEqual([
      longest,
      long,
      'test/api/b.e2e-spec.ts',
      'test/api/a.e2e-spec.ts',
      'src/b.spec.ts',
      'src/a.spec.ts',
    ]);
  });
});
