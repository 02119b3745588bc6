import path from 'node:path';

/** Returns the environment that shifts a server's wall clock by this time. */
export function shiftedClock(shiftMs: number): Record<string, string> {
  return {
    NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'clock-shift.mjs')}`,
    POSTHORN_TEST_CLOCK_SHIFT_MS: String(shiftMs),
  };
}
