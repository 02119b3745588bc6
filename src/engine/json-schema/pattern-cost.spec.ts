import fc from 'fast-check';
import { RE2JS } from 're2js';
import { patternCost } from './pattern-cost.js';

describe('patternCost', () => {
  it.each<[string, number]>([
    ['', 0],
    ['abc', 3],
    ['^a*$', 1],
    ['(ab){10}', 20],
    ['((a{10}){10}){10}', 1_000],
    ['a{2,5}b', 6],
    ['a{0}', 1],
    ['a{3,}', 3],
    ['[^]{]{4}', 4],
    ['[[:alpha:]x]{3}', 3],
    ['\\p{Greek}{20}', 20],
    ['\\({5}', 5],
    ['\\x{10FFFF}{2}', 2],
    ['(a{9}', 9],
    ['a){3}', 3],
    ['(?:a\\Q)\\E){100}', 700],
  ])('%j has %i atoms', (text, atoms) => {
    expect(patternCost(text).atoms).toBe(atoms);
  });

  it.each<[string, string, number]>([
    ['a named class', '\\PL', 10],
    ['a class in a class', '[[:^alpha:]\\pL]', 20],
    ['a wide range that is case-folded', '(?i)[\\u0100-\\u{10ffff}]', 160],
    ['the same in a group', '(?s-m:(?mi:[a-\u{10ffff}]))', 160],
  ])('charges for %s', (_what, text, units) => {
    expect(patternCost(text).units).toBeGreaterThanOrEqual(units);
  });

  it.each(['(?i)^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}$', '[\\u0100-\\u{10ffff}]', '^[A-Za-z0-9._-]+@[a-z.-]+$'])(
    'charges little for %s',
    (text) => {
      expect(patternCost(text).units).toBeLessThan(10);
    },
  );

  it('a program is never much larger than its estimated atoms', () => {
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('a', '.', '[^]a]', '\\d', '\\pL', '\\)', '[)]', '\\Q)\\E'),
        fc
          .tuple(tie('pattern'), fc.constantFrom('*', '+?', '{3}', '{0,4}', '{2,}'))
          .map(([inner, times]) => `(?:${inner})${times}`),
        fc.tuple(tie('pattern'), fc.constantFrom('', '|'), tie('pattern')).map((parts) => `(${parts.join('')})`),
      ),
    }));
    fc.assert(
      fc.property(pattern, (text) => {
        const { atoms } = patternCost(text);

        // Alternatives, options and groups need instructions in addition to those of the atoms.
        expect(RE2JS.compile(text).programSize()).toBeLessThanOrEqual(20 + 12 * (atoms + 1));
      }),
    );
  });
});
