import path from 'node:path';

/** What a server is started with for its machine's wall clock to be wrong by so much. */
export function shiftedClock(shiftMs: number): Record<string, string> {
  return {
    NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'clock-shift.mjs')}`,
    POSTHORN_TEST_CLOCK_SHIFT_MS: String(shiftMs),
  };
}
