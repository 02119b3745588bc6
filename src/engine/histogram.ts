/**
 * Counts of whole milliseconds in log-linear buckets. There are 16 buckets per power of two, so a bucket is never wider
 * than a sixteenth of its values, and one millisecond wide below 32. Two histograms merge by adding their counts.
 * Trailing zeros may be omitted.
 */
export type Histogram = readonly number[];

const PER_OCTAVE = 16;
const PER_OCTAVE_BITS = 4;
/** The last octave ends at 2^14 ms, beyond the longest time-out. */
const OCTAVES = 14;
const BUCKETS = (OCTAVES - PER_OCTAVE_BITS + 1) * PER_OCTAVE;
const VALUE_MAX = 2 ** OCTAVES - 1;

/** Lowest value of each bucket, in milliseconds. */
export const BUCKET_FLOORS_MS: readonly number[] = Object.freeze(
  Array.from({ length: BUCKETS }, (_, bucket) => floorOf(bucket)),
);

/**
 * Returns the bucket of a duration. Negative durations count as 0. The last bucket includes everything above 16,383 ms.
 */
export function bucketOf(ms: number): number {
  const value = Math.trunc(Math.min(Math.max(ms, 0), VALUE_MAX));
  if (value < PER_OCTAVE) return value;
  const shift = 31 - Math.clz32(value) - PER_OCTAVE_BITS;
  return shift * PER_OCTAVE + (value >> shift);
}

/**
 * Returns the quantile `q` (0 to 1) in whole milliseconds: of n values, the one of rank ⌈q·n⌉. Returns null for an
 * empty histogram. The values of a bucket are assumed to be evenly distributed. The result is therefore off by less
 * than a sixteenth of the true value, and exact below 32 ms.
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

/** Returns the value at a fraction of a bucket, from its lowest to its highest value. */
function within(bucket: number, share: number): number {
  const lowest = floorOf(bucket);
  return lowest + Math.round((floorOf(bucket + 1) - 1 - lowest) * share);
}

function floorOf(bucket: number): number {
  const shift = Math.max(0, Math.floor(bucket / PER_OCTAVE) - 1);
  return (bucket - shift * PER_OCTAVE) << shift;
}
