import fc from 'fast-check';

const codePoint = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }));

// The second function is the inverse of the first. It lets fast-check insert strings that often break programs, such as
// __proto__.
const character = codePoint.map(
  (point) => String.fromCodePoint(point),
  (text) => (text as string).codePointAt(0) as number,
);

/**
 * Returns a generator of Unicode texts without lone surrogates. `fc.string` with the unit `binary` has the same values,
 * but costs half a second of CPU per suite.
 */
export const unicodeText = (limits: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...limits, unit: character });
