/** Compares the slices of two programs. Pure functions, tested by test/architecture/bench-statistics.spec.ts. */

const CONFIDENCE = 0.95;

/** Returns the interpolated quantile. @param {readonly number[]} values @param {number} share @returns {number} */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [below = Number.NaN, above = below] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return below + (above - below) * (at - Math.floor(at));
}

/**
 * @param {readonly number[]} values
 * @returns {{ median: number, low: number, high: number }} `low` and `high`: the quartiles
 */
export const spreadOf = (values) => ({
  median: quantile(values, 0.5),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});

/**
 * Returns the Hodges-Lehmann estimate of the center, with the 95 % interval of Wilcoxon's signed-rank test. The
 * interval is infinite with fewer than six values.
 *
 * @param {readonly number[]} values @returns {{ centre: number, low: number, high: number }}
 */
export function centreOf(values) {
  /** @type {number[]} */
  const means = [];
  for (let i = 0; i < values.length; i++) {
    for (let j = i; j < values.length; j++)
      means.push(/** @type {number} */ (values[i] + /** @type {number} */ (values[j])) / 2);
  }
  means.sort((a, b) => a - b);
  const outside = ranksOutside(values.length);
  const [low, high] = outside === 0 ? [-Infinity, Infinity] : [means[outside - 1], means[means.length - outside]];
  return { centre: quantile(means, 0.5), low: low ?? -Infinity, high: high ?? Infinity };
}

/**
 * Returns the rank (from 1) of the interval's lower end among the sorted means of pairs, from the exact distribution of
 * Wilcoxon's signed-rank sum. Returns 0 if the interval is infinite.
 *
 * @param {number} count of values
 */
function ranksOutside(count) {
  let shares = new Float64Array([1]);
  for (let rank = 1; rank <= count; rank++) {
    const next = new Float64Array(shares.length + rank);
    for (let sum = 0; sum < shares.length; sum++) {
      const half = /** @type {number} */ (shares[sum]) / 2;
      next[sum] = /** @type {number} */ (next[sum]) + half;
      next[sum + rank] = /** @type {number} */ (next[sum + rank]) + half;
    }
    shares = next;
  }
  let below = 0;
  for (let sum = 0; ; sum++) {
    below += shares[sum] ?? 1;
    if (below > (1 - CONFIDENCE) / 2) return sum;
  }
}

/**
 * Returns the ratio of the first value of a pair to the second value, over all pairs, with its 95 % interval. Omits
 * pairs with a slice in which no message arrived.
 *
 * @param {readonly (readonly [number, number])[]} pairs @returns {import('./statistics.mjs').Ratio}
 */
export function ratioOf(pairs) {
  const usable = pairs.filter((pair) => pair.every((value) => value > 0 && Number.isFinite(value)));
  const { centre, low, high } = centreOf(usable.map(([a, b]) => Math.log(a / b)));
  return { ratio: Math.exp(centre), low: Math.exp(low), high: Math.exp(high), pairs: usable.length };
}

/** @typedef {{ more: string, less: string }} Words for a ratio above and below one */

/**
 * Describes a ratio in words. Equality is checked first, because a difference that is too small to matter may still be
 * statistically significant.
 *
 * @param {import('./statistics.mjs').Ratio} ratio @param {number} tolerance ratio difference that is considered equal
 * @param {Words} words
 * @returns {{ kind: 'same' | 'more' | 'less' | 'unknown', text: string }}
 */
export function verdictOf({ ratio, low, high, pairs }, tolerance, { more, less }) {
  if (low >= 1 - tolerance && high <= 1 + tolerance)
    return { kind: 'same', text: `the same within ${percent(tolerance)} %` };
  if (high < 1) return { kind: 'less', text: `${less} by ${percent(1 - high)} to ${percent(1 - low)} %` };
  if (low > 1) return { kind: 'more', text: `${more} by ${percent(low - 1)} to ${percent(high - 1)} %` };
  return { kind: 'unknown', text: `undecided: ${needed({ ratio, low, high, pairs }, tolerance)}` };
}

/** @param {import('./statistics.mjs').Ratio} ratio @param {number} tolerance */
function needed({ low, high, pairs }, tolerance) {
  if (!Number.isFinite(high)) return 'fewer than 6 pairs, needs more rounds';
  // The width of an interval shrinks with the square root of the number of pairs.
  const times = ((high - low) / 2 / tolerance) ** 2;
  const rounds = Math.round((pairs * Math.max(1.5, times)) / 2);
  return `between ${signed(low)} and ${signed(high)} %, needs more rounds (about ${rounds})`;
}

/** @param {number} share */
const percent = (share) => String(Number((share * 100).toFixed(1)));

/** @param {number} ratio */
const signed = (ratio) => `${ratio < 1 ? '-' : '+'}${percent(Math.abs(ratio - 1))}`;

/**
 * Returns two numbers of accepted copies that had not arrived: the number at the end of the window, and the maximum
 * during the window.
 *
 * @param {Float64Array} acceptedAt time of each message's answer; 0 without an answer
 * @param {Float64Array} receivedAt arrival time of each copy; 0 for a copy
 * that did not arrive @param {number} copies of a message
 * @param {readonly [fromMs: number, untilMs: number]} window @returns {import('./statistics.mjs').Backlog}
 */
export function backlogOf(acceptedAt, receivedAt, copies, [fromMs, untilMs]) {
  const waits = Array.from({ length: acceptedAt.length * copies }, (_, at) => [
    acceptedAt[Math.floor(at / copies)] ?? 0,
    receivedAt[at] || Infinity,
  ]).filter(([from = 0, to = 0]) => from > 0 && from < to && from < untilMs && to >= fromMs);
  const begins = Float64Array.from(waits, ([from = 0]) => from).sort();
  const ends = Float64Array.from(waits, ([, to = 0]) => to).sort();
  let [ended, max] = [0, 0];
  for (const [begun, at] of begins.entries()) {
    while ((ends[ended] ?? Infinity) <= at) ended++;
    if (at >= fromMs) max = Math.max(max, begun + 1 - ended);
  }
  return { end: begins.length - ends.filter((at) => at < untilMs).length, max };
}
