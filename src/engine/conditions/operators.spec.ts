import { jest } from '@jest/globals';
import { RE2JS } from 're2js';
import { compileOperator } from './operators.js';

describe('a pattern', () => {
  it('keeps nothing of the texts that it has looked at', () => {
    const compile = jest.spyOn(RE2JS, 'compile');
    const operator = compileOperator('matches', 'a[ab]{20}[cd]');
    const compiled = compile.mock.results[0]?.value as RE2JS;
    compile.mockRestore();

    const isMatch = typeof operator === 'string' ? operator : operator.holds('abbabaab'.repeat(500));

    expect(isMatch).toBe(false);
    // The cache was used, and is empty again.
    expect(compiled.re2Input.lazyDFA).not.toBeNull();
    expect([compiled.re2Input.lazyDFA.stateCount, compiled.re2Input.lazyDFA.stateCache.size]).toEqual([0, 0]);
  });
});
