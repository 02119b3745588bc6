import fc from 'fast-check';
import { decodeUlid, encodeUlid, incrementUlid, readUlid, ulidBytes, ulidTime } from './ulid.js';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LARGEST = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
const bytes16 = fc.uint8Array({ minLength: 16, maxLength: 16 });
const bytes10 = fc.uint8Array({ minLength: 10, maxLength: 10 });
const timeMs = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const bytesOf = (text: string): Buffer => decodeUlid(text) as Buffer;

/** Returns bytes in base 32, computed from one big integer, independently of the code under test. */
function spell(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let i = 0; i < 26; i += 1) {
    text = (ALPHABET[Number(rest % 32n)] as string) + text;
    rest /= 32n;
  }
  return text;
}

// Examples of github.com/ulid/spec: the time in its README and tests, and the series of monotonic ids in its README.
describe('the examples of the ULID specification', () => {
  it('spell 1469918176385 as 01ARYZ6S41', () => {
    expect(encodeUlid(ulidBytes(1469918176385, new Uint8Array(10)))).toBe('01ARYZ6S410000000000000000');
    expect(ulidTime(bytesOf('01ARYZ6S41TSV4RRFFQ69G5FAV'))).toBe(1469918176385);
  });

  it('count up within a millisecond, and fail when it is exhausted', () => {
    const first = bytesOf('01BX5ZZKBKACTAV9WEVGEMMVRZ');
    const last = bytesOf('01BX5ZZKBKZZZZZZZZZZZZZZZX');

    const series = [first, first, last, last].map((bytes) => {
      incrementUlid(bytes);
      return encodeUlid(bytes);
    });

    expect(series).toEqual([
      '01BX5ZZKBKACTAV9WEVGEMMVS0',
      '01BX5ZZKBKACTAV9WEVGEMMVS1',
      '01BX5ZZKBKZZZZZZZZZZZZZZZY',
      '01BX5ZZKBKZZZZZZZZZZZZZZZZ',
    ]);
    expect(() => incrementUlid(last)).toThrow(RangeError);
    expect(encodeUlid(last)).toBe('01BX5ZZKBKZZZZZZZZZZZZZZZZ');
  });

  it('end at 7ZZZZZZZZZZZZZZZZZZZZZZZZZ', () => {
    expect(encodeUlid(new Uint8Array(16).fill(0xff))).toBe(LARGEST);
    expect(ulidTime(bytesOf(LARGEST))).toBe(281474976710655);
    expect(decodeUlid('80000000000000000000000000')).toBeNull();
  });
});

describe('encodeUlid and decodeUlid', () => {
  it('are base 32 of the number, and inverse to each other in either case', () => {
    fc.assert(
      fc.property(bytes16, (bytes) => {
        const text = encodeUlid(bytes);
        expect(text).toBe(spell(bytes));
        expect(decodeUlid(text)).toEqual(Buffer.from(bytes));
        expect(decodeUlid(text.toLowerCase())).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 1000 },
    );
  });

  it('read the end of a text, into existing bytes', () => {
    fc.assert(
      fc.property(bytes16, fc.string({ maxLength: 8 }), (bytes, before) => {
        const place = new Uint8Array(16);
        expect(readUlid(place, before + encodeUlid(bytes), before.length)).toBe(true);
        expect(place).toEqual(bytes);
        expect(readUlid(place, `${before}${encodeUlid(bytes)}0`, before.length)).toBe(false);
      }),
    );
  });

  it('sort alike as text and as bytes', () => {
    fc.assert(
      fc.property(bytes16, bytes16, (a, b) => {
        const [textA, textB] = [encodeUlid(a), encodeUlid(b)];
        expect(textA < textB ? -1 : Number(textA > textB)).toBe(Buffer.compare(a, b));
      }),
    );
  });

  it.each([
    '',
    '01ARYZ6S41TSV4RRFFQ69G5FA',
    '01ARYZ6S41TSV4RRFFQ69G5FAVV',
    '81ARYZ6S41TSV4RRFFQ69G5FAV',
    'Z1ARYZ6S41TSV4RRFFQ69G5FAV',
    ...[...'ILOUilou- \0\x7féĀ\u0130０'].map((char) => `01ARYZ6S41TSV4RRFFQ69G5FA${char}`),
  ])('refuse %j', (text) => {
    expect(decodeUlid(text)).toBeNull();
  });

  it.each([0, 15, 17])('refuse %i bytes', (length) => {
    expect(() => encodeUlid(new Uint8Array(length))).toThrow(RangeError);
  });
});

describe('ulidBytes and ulidTime', () => {
  it('preserve the time and the random bytes', () => {
    fc.assert(
      fc.property(timeMs, bytes10, (time, random) => {
        const bytes = ulidBytes(time, random);
        expect(ulidTime(bytes)).toBe(time);
        expect(bytes.subarray(6)).toEqual(Buffer.from(random));
      }),
    );
  });

  it.each([-1, 1.5, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY])('refuse the time %d', (time) => {
    expect(() => ulidBytes(time, new Uint8Array(10))).toThrow(RangeError);
  });

  it.each([9, 11])('refuse %i random bytes', (length) => {
    expect(() => ulidBytes(0, new Uint8Array(length))).toThrow(RangeError);
  });

  it.each([15, 17])('reject a ULID of %i bytes', (length) => {
    expect(() => ulidTime(new Uint8Array(length))).toThrow(RangeError);
  });
});

describe('incrementUlid', () => {
  it('is the number plus one, in the same millisecond', () => {
    const carrying = fc
      .tuple(bytes16, fc.nat(9))
      .map(([bytes, carry]) => bytes.map((byte, i) => (i > 15 - carry ? 0xff : byte)));
    fc.assert(
      fc.property(carrying, (bytes) => {
        fc.pre(bytes.subarray(6).some((byte) => byte !== 0xff));
        const next = Uint8Array.from(bytes);

        incrementUlid(next);

        const number = (value: Uint8Array): bigint => BigInt(`0x${Buffer.from(value).toString('hex')}`);
        expect(number(next)).toBe(number(bytes) + 1n);
        expect(ulidTime(next)).toBe(ulidTime(bytes));
      }),
    );
  });
});
