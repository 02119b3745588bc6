import fc from 'fast-check';
import { BUCKET_FLOORS_MS, bucketOf, type Histogram, quantile } from './histogram.js';

const LAST_MS = 16_383;
/** Durations on a logarithmic scale, as is usual for latencies: short, medium and long durations are equally likely. */
const durations = fc.oneof(fc.nat(40), fc.nat(1_000), fc.nat(LAST_MS));
const samples = fc.array(durations, { minLength: 1, maxLength: 300 });
const shares = fc.oneof(fc.constantFrom(0, 0.5, 0.95, 0.99, 1), fc.double({ min: 0, max: 1, noNaN: true }));

function histogramOf(values: readonly number[]): Histogram {
  const counts: number[] = [];
  for (const bucket of values.map(bucketOf)) {
    while (counts.length <= bucket) counts.push(0);
    counts[bucket] = (counts[bucket] as number) + 1;
  }
  return counts;
}

/** Returns the quantile by the nearest-rank method, which PostgreSQL's `percentile_disc` also uses. */
function exactQuantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(q * sorted.length)) - 1] as number;
}

const merged = (a: Histogram, b: Histogram): Histogram =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? 0) + (b[i] ?? 0));

describe('bucketOf', () => {
  it.each([
    [-5, 0],
    [0, 0],
    [0.9, 0],
    [1, 1],
    [15, 15],
    [16, 16],
    [31, 31],
    [32, 32],
    [33, 32],
    [34, 33],
    [63, 47],
    [64, 48],
    [67, 48],
    [68, 49],
    [1_000, 111],
    [1_023, 111],
    [1_024, 112],
    [8_191, 159],
    [8_192, 160],
    [15_000, 173],
    [16_383, 175],
    [16_384, 175],
    [3_600_000, 175],
    [2 ** 40, 175],
    [Infinity, 175],
  ])('%d ms is in bucket %d', (ms, bucket) => {
    expect(bucketOf(ms)).toBe(bucket);
  });

  it('matches BUCKET_FLOORS_MS for every millisecond up to the last', () => {
    expect(BUCKET_FLOORS_MS).toHaveLength(176);
    for (let ms = 0; ms <= LAST_MS; ms += 1) {
      const bucket = bucketOf(ms);
      const [floor, next] = [BUCKET_FLOORS_MS[bucket] as number, BUCKET_FLOORS_MS[bucket + 1] ?? LAST_MS + 1];
      if (ms < floor || ms >= next) throw new Error(`${ms} ms is in the bucket from ${floor} to ${next}.`);
      if (next - floor > Math.max(1, floor / 16)) throw new Error(`The bucket from ${floor} to ${next} is too wide.`);
    }
  });
});

describe('quantile', () => {
  it('returns null for an empty histogram', () => {
    expect(quantile([], 0.5)).toBeNull();
    expect(quantile([0, 0, 0], 0.99)).toBeNull();
  });

  it.each([
    [[7], 0.5, 7],
    [[1, 2, 3, 4], 0.5, 2],
    [[1, 2, 3, 4], 0.51, 3],
    [[1, 2, 3, 4], 0, 1],
    [[1, 2, 3, 4], 1, 4],
    [[0, 31], 1, 31],
    // The value 1,000 is in the bucket from 992 to 1,023. Values are assumed to be spread evenly over their bucket.
    [[1_000], 0.5, 1_008],
    [[1_000, 1_000, 1_000, 1_000], 0.25, 996],
    [[1_000, 1_000, 1_000, 1_000], 1, 1_019],
  ])('of %j at %d is %d', (values, q, expected) => {
    expect(quantile(histogramOf(values), q)).toBe(expected);
  });

  it('is off by less than a sixteenth, and exact below 32 ms', () => {
    fc.assert(
      fc.property(samples, shares, (values, q) => {
        const exact = exactQuantile(values, q);
        const answer = quantile(histogramOf(values), q) as number;

        expect(Number.isInteger(answer)).toBe(true);
        expect(Math.abs(answer - exact) * 16).toBeLessThan(exact < 32 ? 1 : exact);
      }),
      { numRuns: 1_000 },
    );
  });

  it('increases with the share', () => {
    fc.assert(
      fc.property(samples, shares, shares, (values, a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((q) => quantile(histogramOf(values), q) as number) as [
          number,
          number,
        ];

        expect(low).toBeLessThanOrEqual(high);
      }),
    );
  });

  it('is the same for a histogram and for the sum of its parts, with and without trailing zeros', () => {
    fc.assert(
      fc.property(samples, samples, shares, fc.nat(50), (a, b, q, zeros) => {
        const parts = merged([...histogramOf(a), ...Array<number>(zeros).fill(0)], histogramOf(b));

        expect(quantile(parts, q)).toBe(quantile(histogramOf([...a, ...b]), q));
      }),
    );
  });
});
