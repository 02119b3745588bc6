const DAY_MS = 86_400_000;
/**
 * Minimum size of a leap. A leap is a forward jump of PostgreSQL's clock that a process did not measure on its own
 * clock.
 */
export const LEAP_MS = DAY_MS;
/** How long retention pauses after a leap, measured with monotonic clocks. */
export const LEAP_WAIT_MS = DAY_MS;

/** PostgreSQL's clock as observed by all processes. Times are milliseconds since the epoch. */
export interface SeenClock {
  seenAtMs: number;
  /** Time that the clock showed before the leap. Null if retention is not paused. */
  leaptFromMs: number | null;
  /** Time since the last leap, on the monotonic clocks of the processes. */
  waitedMs: number;
}

/** A process's last reading of PostgreSQL's clock, and the time since then on its own monotonic clock. */
export interface OwnMeasure {
  nowMs: number;
  elapsedMs: number;
}

/**
 * Returns the new state after a reading of PostgreSQL's clock (`nowMs`). `own` is null for the first reading of a
 * process.
 *
 * Only time that the process did not measure on its own monotonic clock counts as a leap. A leap pauses retention for a
 * day of measured time, and a further leap restarts this day. The pause ends early if PostgreSQL's clock is set back by
 * the size of the leap.
 */
export function lookAtClock(before: SeenClock, nowMs: number, own: OwnMeasure | null): SeenClock {
  const passedMs = Math.max(0, nowMs - before.seenAtMs);
  const elapsedMs = own?.elapsedMs ?? 0;
  const unexplainedMs = own === null ? passedMs : Math.min(passedMs, nowMs - own.nowMs - own.elapsedMs);
  if (unexplainedMs > LEAP_MS)
    return { seenAtMs: nowMs, leaptFromMs: before.leaptFromMs ?? before.seenAtMs, waitedMs: 0 };
  if (before.leaptFromMs === null) return { seenAtMs: nowMs, leaptFromMs: null, waitedMs: 0 };
  const waitedMs = before.waitedMs + Math.min(passedMs, elapsedMs);
  const isSetBack = nowMs - before.leaptFromMs - waitedMs <= LEAP_MS;
  if (isSetBack || waitedMs >= LEAP_WAIT_MS) return { seenAtMs: nowMs, leaptFromMs: null, waitedMs: 0 };
  return { seenAtMs: nowMs, leaptFromMs: before.leaptFromMs, waitedMs };
}
