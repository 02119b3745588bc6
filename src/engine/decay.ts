/** Returns the factor of exponential decay: 1 at 0 ms, 1/e after `memoryMs`. Negative times cause no decay. */
export function decay(elapsedMs: number, memoryMs: number): number {
  return Math.exp(-Math.max(0, elapsedMs) / memoryMs);
}
