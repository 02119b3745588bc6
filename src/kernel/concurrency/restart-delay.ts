const DELAY_MS_FIRST = 50;
const DELAY_MS_MAX = 5000;
/** Run time above which the end of a process does not count as a failed start. */
const STABLE_MS = 30_000;

/** Returns the delay in milliseconds before a restart, by consecutive failures: 0, then 50, doubling up to 5,000. */
export function restartDelayMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(DELAY_MS_FIRST * 2 ** (failures - 1), DELAY_MS_MAX);
}

/** Returns the new number of consecutive failures, after a process that had run for `livedMs` ended. */
export function failuresAfter(failures: number, livedMs: number): number {
  return livedMs < STABLE_MS ? failures + 1 : 0;
}
