/**
 * Counts of whole milliseconds in log-linear buckets, 16 per power of two. A bucket is 1 ms wide below 32 ms, and never
 * wider than a sixteenth of its values. Adding the counts of two histograms merges them. Trailing zeros may be omitted.
 */
export type Histogram = readonly number[];

const PER_OCTAVE = 16;
const PER_OCTAVE_BITS = 4;
/** Number of powers of two that the buckets cover. 2^14 ms exceeds the longest timeout. */
const OCTAVES = 14;
const BUCKETS = (OCTAVES - PER_OCTAVE_BITS + 1) * PER_OCTAVE;
const VALUE_MAX = 2 ** OCTAVES - 1;

export const BUCKET_FLOORS_MS: readonly number[] = Object.freeze(
  Array.from({ length: BUCKETS }, (_, bucket) => floorOf(bucket)),
);

/** Returns a bucket index. Negative durations are treated as 0. The last bucket includes everything above 16,383 ms. */
export function bucketOf(ms: number): number {
  const value = Math.trunc(Math.min(Math.max(ms, 0), VALUE_MAX));
  if (value < PER_OCTAVE) return value;
  const shift = 31 - Math.clz32(value) - PER_OCTAVE_BITS;
  return shift * PER_OCTAVE + (value >> shift);
}

/**
 * Returns the quantile `q` (0 to 1) in whole ms (the value of rank ⌈q·n⌉), or null for an empty histogram. Assumes an
 * even distribution within a bucket. The error is less than a sixteenth. Below 32 ms, the result is exact.
 */
export function quantile(histogram: Histogram, q: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  const rank = Math.max(1, Math.ceil(q * total));
  let below = 0;
  for (const [bucket, count] of histogram.entries()) {
    if (below + count >= rank) return within(bucket, (rank - below - 0.5) / count);
    below += count;
  }
  return null;
}

function within(bucket: number, share: number): number {
  const lowest = floorOf(bucket);
  return lowest + Math.round((floorOf(bucket + 1) - 1 - lowest) * share);
}

function floorOf(bucket: number): number {
  const shift = Math.max(0, Math.floor(bucket / PER_OCTAVE) - 1);
  return (bucket - shift * PER_OCTAVE) << shift;
}
