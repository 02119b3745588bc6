import { jest } from '@jest/globals';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { compileOperator } from './operators.js';

describe('a pattern', () => {
  it('keeps no states of matched texts', () => {
    const compile = jest.spyOn(RE2JS, 'compile');
    const operator = compileOperator('matches', 'a[ab]{20}[cd]');
    const compiled = compile.mock.results[0]?.value as RE2JS;
    compile.mockRestore();

    const isMatch = typeof operator === 'string' ? operator : operator.holds('abbabaab'.repeat(500));

    expect(isMatch).toBe(false);
    // The cache object exists, so the search created automaton states. Its counts are 0, so the operator cleared the
    // states.
    expect(compiled.re2Input.lazyDFA).not.toBeNull();
    expect([compiled.re2Input.lazyDFA.stateCount, compiled.re2Input.lazyDFA.stateCache.size]).toEqual([0, 0]);
  });
});

describe('an order', () => {
  const written = (n: number): string[] => [String(n), `${n}.0`, `${n}e0`, `${n < 0 ? '-' : ''}00${Math.abs(n)}`];
  const small = fc.integer({ min: -20, max: 20 });
  const large = fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });

  it('compares numbers by value, in any notation and of any length', () => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(small, small), fc.tuple(large, large)), ([left, right]) => {
        for (const value of written(right)) {
          const operators = (['gt', 'gte', 'lt', 'lte'] as const).map((op) => compileOperator(op, value));
          for (const text of written(left)) {
            const holds = operators.map((operator) => typeof operator !== 'string' && operator.holds(text));
            expect(holds).toEqual([left > right, left >= right, left < right, left <= right]);
          }
        }
      }),
    );
  });

  it.each(['', '-', '+', '1 ', ' 1', '1-', '--1', '0x1', '1,5', 'one', '\u0661', undefined])(
    'does not match %j, which is no decimal number',
    (text) => {
      for (const op of ['gt', 'gte', 'lt', 'lte'] as const) {
        const operator = compileOperator(op, '0');
        expect(typeof operator !== 'string' && operator.holds(text)).toBe(false);
      }
    },
  );
});
