/** Decides the order of the time slices in which programs are measured, and the pairs of slices that are compared. */

/**
 * Returns the order of the contestants in a round (A B B A), so that drift of the machine's speed affects all equally.
 * Each round starts with a different contestant, because a checkpoint before the round affects its first slice.
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
 * Returns pairs of slices of two contestants. The slices of a pair belong to the same half of the same round. If there
 * are only two contestants, the slices of a pair are adjacent.
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
