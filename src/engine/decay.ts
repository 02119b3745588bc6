/**
 * What is left of a count that time takes away from: 1 at once, a third after `memoryMs`, and never less than nothing. A clock that steps
 * back takes nothing.
 */
export function decay(elapsedMs: number, memoryMs: number): number {
  return Math.exp(-Math.max(0, elapsedMs) / memoryMs);
}
