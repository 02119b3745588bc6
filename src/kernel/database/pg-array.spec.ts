import fc from 'fast-check';
import { unicodeText } from '../../../test/support/unicode-text.js';
import {
  booleanArray,
  dateArray,
  floatArray,
  intArray,
  jsonbArray,
  smallintArray,
  textArray,
  timestampArray,
  uuidArray,
} from './pg-array.js';

/**
 * Vectors of PostgreSQL 18's binary array format, written by hand from `array_send` and the send functions of the
 * types.
 */
const ARRAYS: [string, Buffer, string][] = [
  ['int[] of nothing', intArray([]), '00000000 00000000 00000017'],
  [
    'int[] of 1 and -2',
    intArray([1, -2]),
    '00000001 00000000 00000017 00000002 00000001 00000004 00000001 00000004 fffffffe',
  ],
  ['int[] of null alone', intArray([null]), '00000001 00000001 00000017 00000001 00000001 ffffffff'],
  [
    'int[] of its extremes',
    intArray([2147483647, -2147483648]),
    '00000001 00000000 00000017 00000002 00000001 00000004 7fffffff 00000004 80000000',
  ],
  [
    'smallint[] of -1, null and 300',
    smallintArray([-1, null, 300]),
    '00000001 00000001 00000015 00000003 00000001 00000002 ffff ffffffff 00000002 012c',
  ],
  [
    'float8[] of 1.5 and null',
    floatArray([1.5, null]),
    '00000001 00000001 000002bd 00000002 00000001 00000008 3ff80000 00000000 ffffffff',
  ],
  [
    'boolean[]',
    booleanArray([true, false, null]),
    '00000001 00000001 00000010 00000003 00000001 00000001 01 00000001 00 ffffffff',
  ],
  ['text[] of nothing', textArray([]), '00000000 00000000 00000019'],
  [
    'text[] with an empty text, more than ASCII and a null',
    textArray(['', 'aé€𝄞', null]),
    '00000001 00000001 00000019 00000003 00000001 00000000 0000000a 61c3a9e282acf09d849e ffffffff',
  ],
  [
    'text[] of what the text format would have to escape',
    textArray(['{"\\,}']),
    '00000001 00000000 00000019 00000001 00000001 00000005 7b225c2c7d',
  ],
  [
    'jsonb[], each with its version',
    jsonbArray(['{}', null]),
    '00000001 00000001 00000eda 00000002 00000001 00000003 017b7d ffffffff',
  ],
  [
    'uuid[]',
    uuidArray(['01563e3a-b5d3-d676-4c61-efb99302bd5b']),
    '00000001 00000000 00000b86 00000001 00000001 00000010 01563e3ab5d3d6764c61efb99302bd5b',
  ],
  [
    "timestamptz[] of PostgreSQL's epoch and the microseconds around it",
    timestampArray([946_684_800_000, 946_684_800_001, 946_684_799_999]),
    '00000001 00000000 000004a0 00000003 00000001 00000008 0000000000000000 00000008 00000000000003e8 00000008 fffffffffffffc18',
  ],
  // 1970-01-01 is 10957 days, or 946684800000000 µs, before PostgreSQL's epoch.
  [
    'timestamptz[] of the Unix epoch',
    timestampArray([0, null]),
    '00000001 00000001 000004a0 00000002 00000001 00000008 fffca2fec4c82000 ffffffff',
  ],
  [
    "date[] around PostgreSQL's epoch",
    dateArray([10_957, 10_956, 0]),
    '00000001 00000000 0000043a 00000003 00000001 00000004 00000000 00000004 ffffffff 00000004 ffffd533',
  ],
];

/** Returns the elements of the array. Throws if the array is longer or shorter than its header says. */
function elementsOf(array: Buffer): (Buffer | null)[] {
  const length = array.readInt32BE(0) === 0 ? 0 : array.readInt32BE(12);
  const elements: (Buffer | null)[] = [];
  let offset = length === 0 ? 12 : 20;
  for (let i = 0; i < length; i += 1) {
    const size = array.readInt32BE(offset);
    offset += 4;
    elements.push(size < 0 ? null : array.subarray(offset, offset + size));
    offset += Math.max(size, 0);
  }
  if (offset !== array.length) throw new Error(`${array.length} bytes hold an array of ${offset}.`);
  return elements;
}

describe('binary arrays', () => {
  it.each(ARRAYS)('writes %s like PostgreSQL', (_what, array, hex) => {
    expect(array.toString('hex')).toBe(hex.replaceAll(' ', ''));
  });

  it('preserves every text, with any characters', () => {
    const texts = fc.array(fc.option(unicodeText({ maxLength: 40 })));
    fc.assert(
      fc.property(texts, (values) => {
        expect(elementsOf(textArray(values)).map((bytes) => bytes && bytes.toString())).toEqual(values);
        expect(elementsOf(jsonbArray(values)).map((bytes) => bytes && bytes.subarray(1).toString())).toEqual(values);
      }),
    );
  });

  it('preserves every millisecond for 285 years around 2000, the range in which a number holds microseconds', () => {
    const [firstMs, lastMs] = [-8_060_514_800_000, 9_953_884_000_000];
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: firstMs, max: lastMs }))), (values) => {
        const microseconds = elementsOf(timestampArray(values)).map((bytes) => bytes && bytes.readBigInt64BE());

        expect(microseconds).toEqual(
          values.map((ms) => (ms === null ? null : (BigInt(ms) - 946_684_800_000n) * 1000n)),
        );
      }),
    );
  });

  it('sets the flag for nulls exactly if there is one', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.boolean()), { minLength: 1 }), (values) => {
        expect(booleanArray(values).readInt32BE(4)).toBe(values.includes(null) ? 1 : 0);
      }),
    );
  });

  it.each([
    ['an int', () => intArray([2_147_483_648])],
    ['a smallint', () => smallintArray([32_768])],
  ])('rejects a number that is too large for %s instead of truncating it', (_what, make) => {
    expect(make).toThrow('out of range');
  });
});
