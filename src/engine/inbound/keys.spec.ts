import fc from 'fast-check';
import { equalText } from './keys.js';

describe('equalText', () => {
  it.each([
    ['', '', true],
    ['secret', 'secret', true],
    ['secret', 'secres', false],
    ['secret', 'secret ', false],
    ['', 'secret', false],
    ['secret', '', false],
    // Equal lengths in characters, but not in bytes.
    ['é', 'e', false],
    ['é', 'é', true],
  ])('%j and %j: %s', (given, expected, result) => {
    expect(equalText(given, expected)).toBe(result);
  });

  it('agrees with === for all well-formed texts', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(fc.property(text, text, (left, right) => equalText(left, right) === (left === right)));
    fc.assert(fc.property(text, (both) => equalText(both, both)));
  });
});
