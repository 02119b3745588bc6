const DELAY_MS_FIRST = 50;
const DELAY_MS_MAX = 5000;
/** What lived for so long did not die of how it was started. */
const STABLE_MS = 30_000;

/** How long to wait before a process is started again that has failed so often in a row: at once, then 50 ms, twice as much each time, 5 s at most. */
export function restartDelayMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(DELAY_MS_FIRST * 2 ** (failures - 1), DELAY_MS_MAX);
}

/** Failures in a row, with the death of a process that lived for `livedMs`. */
export function failuresAfter(failures: number, livedMs: number): number {
  return livedMs < STABLE_MS ? failures + 1 : 0;
}
