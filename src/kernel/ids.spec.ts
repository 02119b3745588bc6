import fc from 'fast-check';
import type { Clock } from './clock.js';
import { idBytes, idFromBytes, Ids, idTimeMs, lowestIdAt, parseId, showId } from './ids.js';

/** Example of the ULID specification (github.com/ulid/spec), as text and as its 16 bytes. */
const SPEC_TEXT = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const SPEC_ID = '01563e3a-b5d3-d676-4c61-efb99302bd5b';
const SPEC_TIME_MS = 0x01563e3ab5d3;

const anyBytes = fc.uint8Array({ minLength: 16, maxLength: 16 });

function idsAt(time: { nowMs: number }): Ids {
  return new Ids({ nowMs: () => time.nowMs } as unknown as Clock);
}

describe('Ids', () => {
  it("contains the clock's time", () => {
    expect(idTimeMs(idsAt({ nowMs: 1_763_690_000_123 }).next())).toBe(1_763_690_000_123);
  });

  it('is strictly ascending, also within one millisecond and while the clock goes back', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 2, maxLength: 200, size: 'max' }), (steps) => {
        const time = { nowMs: 1_763_690_000_000 };
        const ids = idsAt(time);
        const made = steps.map((step) => {
          time.nowMs += step;
          return ids.next();
        });
        expect(made).toEqual([...new Set(made)].sort());
      }),
    );
  });

  it('never dates an id before an earlier one', () => {
    const time = { nowMs: 2_000 };
    const ids = idsAt(time);
    ids.next();
    time.nowMs = 1_000;

    expect(idTimeMs(ids.next())).toBe(2_000);
  });

  it('uses new random bits for each millisecond, across many pages of randomness', () => {
    const time = { nowMs: 1 };
    const ids = idsAt(time);
    const tails = Array.from({ length: 1_000 }, () => {
      time.nowMs += 1;
      return ids.next().slice(14);
    });

    expect(new Set(tails).size).toBe(1_000);
  });
});

describe('the two forms of an id', () => {
  it('formats the example of the ULID specification, and parses it back', () => {
    expect(showId('evt', SPEC_ID)).toBe(`evt_${SPEC_TEXT}`);
    expect(parseId('evt', `evt_${SPEC_TEXT}`)).toBe(SPEC_ID);
    expect(idTimeMs(SPEC_ID)).toBe(SPEC_TIME_MS);
  });

  it('preserves every bit and the order, from bytes to text to the API form and back', () => {
    fc.assert(
      fc.property(anyBytes, anyBytes, (a, b) => {
        const [idA, idB] = [idFromBytes(a), idFromBytes(b)];
        expect(idA).toMatch(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
        expect(idBytes(idA)).toEqual(Buffer.from(a));
        expect(parseId('msg', showId('msg', idA))).toBe(idA);
        const order = Math.sign(Buffer.compare(a, b));
        expect(idA < idB).toBe(order < 0);
        expect(showId('msg', idA) < showId('msg', idB)).toBe(order < 0);
      }),
    );
  });

  it('uses only the bytes of a view into a larger buffer', () => {
    const bytes = Buffer.concat([Buffer.alloc(5, 0xff), idBytes(SPEC_ID), Buffer.alloc(5, 0xff)]);

    expect(idFromBytes(bytes.subarray(5, 21))).toBe(SPEC_ID);
  });

  it.each([
    ['another prefix', `msg_${SPEC_TEXT}`],
    ['no prefix', SPEC_TEXT],
    ['a prefix that only starts the same', `evtx_${SPEC_TEXT}`],
    ['no separator', `evt${SPEC_TEXT}`],
    ['a prefix in capitals', `EVT_${SPEC_TEXT}`],
    ['a character too few', `evt_${SPEC_TEXT.slice(1)}`],
    ['a character too many', `evt_${SPEC_TEXT}0`],
    ['a letter that Crockford excludes', `evt_${SPEC_TEXT.slice(0, -1)}U`],
    ['more than 128 bits', `evt_8${SPEC_TEXT.slice(1)}`],
    ['a uuid', `evt_${SPEC_ID}`],
    ['white space', `evt_${SPEC_TEXT} `],
    ['nothing', ''],
  ])('parses no id from %s', (_what, text) => {
    expect(parseId('evt', text)).toBeNull();
  });
});

describe('lowestIdAt', () => {
  it('lies between the ids of one millisecond and those of the previous one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 48 - 1 }), (timeMs) => {
        const bound = lowestIdAt(timeMs);
        expect(idTimeMs(bound)).toBe(timeMs);
        expect(idsAt({ nowMs: timeMs }).next() >= bound).toBe(true);
        expect(idsAt({ nowMs: timeMs - 1 }).next() < bound).toBe(true);
      }),
    );
  });

  it.each([
    [-1, 0],
    [-62_135_596_800_000, 0],
    [2 ** 48, 2 ** 48 - 1],
    [8_640_000_000_000_000, 2 ** 48 - 1],
  ])('limits %i, which no id can hold, to %i', (timeMs, heldMs) => {
    expect(idTimeMs(lowestIdAt(timeMs))).toBe(heldMs);
  });
});
