import fc from 'fast-check';
import { compareDecimals, isDecimal } from './decimals.js';
import { ExactNumber, parseExact, writeExact } from './exact-json.js';

const digits = (min: number, max: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map((all) => all.join(''));
const long = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });

describe('parseExact and writeExact', () => {
  it('return the same as JSON.parse for numbers that JavaScript can hold', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        // `suspect` looks like a number that would lose digits, so `parseExact` uses the exact parser, not
        // `JSON.parse`.
        const text = JSON.stringify({ value, suspect: '1234567890123456' }, null, indent);

        expect(JSON.stringify(JSON.parse(writeExact(parseExact(text))))).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('keep every digit of integers in any context', () => {
    fc.assert(
      fc.property(fc.array(long, { minLength: 1 }), fc.string(), (numbers, name) => {
        const text = `[${JSON.stringify(name)},[${numbers.join(',')}],{"":[]}]`;

        expect(writeExact(parseExact(text))).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['[-12345678901234567890, 0.1]', '[-12345678901234567890,0.1]'],
    ['1e400', '1e400'],
    ['0.12345678901234567890123', '0.12345678901234567890123'],
    ['9007199254740991', '9007199254740991'],
    ['{"a\\\\":"\\"","b":9007199254740993,"b":9007199254740995}', '{"a\\\\":"\\"","b":9007199254740995}'],
  ])('%s', (text, written) => {
    expect(writeExact(parseExact(text))).toBe(written);
  });

  it('return a plain number if that is exact', () => {
    expect(parseExact('[9007199254740991,1.5,100.0000000000000000,9007199254740993]')).toEqual([
      9007199254740991,
      1.5,
      100,
      new ExactNumber('9007199254740993'),
    ]);
  });

  it.each(['', '{', '[1,]', '01234567890123456', '12345678901234567x'])('reject %j, which is not JSON', (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError);
  });
});

describe('compareDecimals', () => {
  it('compares integers of any length', () => {
    fc.assert(
      fc.property(long, long, (a, b) => {
        expect(Math.sign(compareDecimals(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is independent of the decimal point and the exponent', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('', '-'),
        digits(1, 20),
        digits(0, 20),
        fc.integer({ min: -40, max: 40 }),
        (sign, whole, fraction, power) => {
          const one = `${sign}${whole}.${fraction}e${power}`;
          const other = `${sign}${whole}${fraction}E${power - fraction.length}`;

          expect([isDecimal(one), isDecimal(other)]).toEqual([true, true]);
          expect(compareDecimals(one, other)).toBe(0);
        },
      ),
    );
  });

  it.each([
    ['9007199254740993', '9007199254740992', 1],
    ['-9007199254740993', '-9007199254740992', -1],
    ['0.30000000000000001', '0.3', 1],
    ['0', '-0.000', 0],
    ['1e400', '1e399', 1],
    ['-1e400', '1', -1],
    ['1e-400', '0', 1],
    ['10', '9', 1],
    [`1e${'9'.repeat(900)}`, `1e${'9'.repeat(899)}8`, 1],
  ])('%.30s and %.30s', (left, right, order) => {
    expect(Math.sign(compareDecimals(left, right)) + 0).toBe(order);
    expect(Math.sign(compareDecimals(right, left)) + 0).toBe(order === 0 ? 0 : -order);
  });

  it.each(['', '.', '+', 'e5', '1e', '1e+', '0x10', '1_000', 'Infinity', ' 1'])('does not know %j', (text) => {
    expect(isDecimal(text)).toBe(false);
  });
});
