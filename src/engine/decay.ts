/** Returns the exponential decay: 1 at 0 ms, 1/e after `memoryMs`. A clock that steps back causes no decay. */
export function decay(elapsedMs: number, memoryMs: number): number {
  return Math.exp(-Math.max(0, elapsedMs) / memoryMs);
}
