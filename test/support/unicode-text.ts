import fc from 'fast-check';

const codePoint = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }));

// fast-check uses the inverse mapping to insert strings that often break programs, such as __proto__.
const character = codePoint.map(
  (point) => String.fromCodePoint(point),
  (text) => (text as string).codePointAt(0) as number,
);

/**
 * Returns a generator of texts of any Unicode characters, without lone surrogates. It has the same values as
 * `fc.string` with the unit `binary`, which spends half a second of CPU per suite on a table of all characters.
 */
export const unicodeText = (limits: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...limits, unit: character });
