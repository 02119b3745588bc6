/** In which order subjects take their slices, and which slices are compared: pure, tested by test/architecture/bench-statistics.spec.ts. */

/**
 * The slices of a round: everyone once, then everyone in the opposite order (A B B A), so that a machine that gets slower
 * or faster meanwhile does it to all alike. Whoever begins a round, and so comes after its checkpoint, begins it in turn.
 *
 * @template T
 * @param {readonly T[]} contestants @param {number} round from 0 @returns {T[]}
 */
export function orderOf(contestants, round) {
  const first = round % contestants.length;
  const forward = [...contestants.slice(first), ...contestants.slice(0, first)];
  return [...forward, ...[...forward].reverse()];
}

/**
 * The slices of two that belong together: those of the same half of the same round, next to each other when there are only two.
 *
 * @template {{ name: string, round: number, half: number }} T
 * @param {readonly T[]} slices @param {string} name @param {string} reference
 * @returns {[T, T][]}
 */
export function pairsOf(slices, name, reference) {
  /** @type {[T, T][]} */
  const pairs = [];
  for (const slice of slices.filter((each) => each.name === name)) {
    const other = slices.find(
      (each) => each.name === reference && each.round === slice.round && each.half === slice.half,
    );
    if (other !== undefined) pairs.push([slice, other]);
  }
  return pairs;
}
