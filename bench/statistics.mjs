/** What slices of two subjects say about each other: pure functions, tested by test/architecture/bench-statistics.spec.ts. */

const CONFIDENCE = 0.95;

/** @param {readonly number[]} values @param {number} share of them that is below, interpolated @returns {number} */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [below = Number.NaN, above = below] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return below + (above - below) * (at - Math.floor(at));
}

/** @param {readonly number[]} values @returns {{ median: number, low: number, high: number }} `low` and `high`: the quartiles */
export const spreadOf = (values) => ({
  median: quantile(values, 0.5),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});

/**
 * The centre of values that scatter evenly to both sides, with its interval: the median of the means of all pairs
 * (Hodges and Lehmann), and what Wilcoxon's signed-rank test would not refuse at 95 %. A slice that the machine spoilt
 * moves it as little as a median, and undisturbed ones narrow it nearly as much as a mean.
 *
 * Below six values no interval of them has 95 %: it is everything then.
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
 * Which of the sorted means is the lower end: the number of rank sums that are together so improbable that they are left
 * out on one side. By the exact distribution of the sum: each rank counts or does not, with one half each.
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
 * The ratio of pairs measured directly after each other, with its 95 % interval. Taken from logarithms, so that twice and
 * half are equally far from the same. A pair with a slice in which nothing came is left out.
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
 * What a ratio says, in words. First whether it is the same: a difference too small to matter may be certain all the same.
 *
 * @param {import('./statistics.mjs').Ratio} ratio @param {number} tolerance up to which share two are the same
 * @param {Words} words
 * @returns {{ kind: 'same' | 'more' | 'less' | 'unknown', text: string }}
 */
export function verdictOf({ ratio, low, high, pairs }, tolerance, { more, less }) {
  if (low >= 1 - tolerance && high <= 1 + tolerance)
    return { kind: 'same', text: `the same within ${percent(tolerance)} %` };
  if (high < 1) return { kind: 'less', text: `${less} by ${percent(1 - high)} to ${percent(1 - low)} %` };
  if (low > 1) return { kind: 'more', text: `${more} by ${percent(low - 1)} to ${percent(high - 1)} %` };
  return { kind: 'unknown', text: `cannot be told: ${needed({ ratio, low, high, pairs }, tolerance)}` };
}

/** @param {import('./statistics.mjs').Ratio} ratio @param {number} tolerance */
function needed({ low, high, pairs }, tolerance) {
  if (!Number.isFinite(high)) return 'fewer than 6 pairs, needs more rounds';
  // An interval narrows with the root of the pairs. To tell the tolerance from nothing it has to be that wide on both sides.
  const times = ((high - low) / 2 / tolerance) ** 2;
  const rounds = Math.round((pairs * Math.max(1.5, times)) / 2);
  return `between ${signed(low)} and ${signed(high)} %, needs more rounds (about ${rounds})`;
}

/** @param {number} share */
const percent = (share) => String(Number((share * 100).toFixed(1)));

/** @param {number} ratio */
const signed = (ratio) => `${ratio < 1 ? '-' : '+'}${percent(Math.abs(ratio - 1))}`;

/**
 * Of a window. What is at the receiver before the generator has read its 202 takes nothing from what waits of the others.
 *
 * @param {Float64Array} acceptedAt when each message was answered; 0 for one that was not @param {Float64Array} receivedAt when each of its copies came; 0 for one
 *   that did not @param {number} copies of a message
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
