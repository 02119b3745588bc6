const DAY_MS = 86_400_000;
/** A clock that goes forward by more than this since it was last seen has leapt, or nobody looked at it for as long. */
export const LEAP_MS = DAY_MS;
/** How long retention waits after a leap, by stopwatches. */
export const LEAP_WAIT_MS = DAY_MS;

/** PostgreSQL's clock as all processes have seen it. Times are milliseconds since the epoch. */
export interface SeenClock {
  seenAtMs: number;
  /** The time that the clock showed before it leapt; null while there is no leap to wait for. */
  leaptFromMs: number | null;
  /** For how long the processes have waited since the last leap. */
  waitedMs: number;
}

/** One process's last reading of PostgreSQL's clock, and the time since then by its own stopwatch. */
export interface OwnMeasure {
  nowMs: number;
  elapsedMs: number;
}

/**
 * Returns the new state after PostgreSQL's clock shows `nowMs`. `own` is null for a process that looks for the first time.
 *
 * Time that a process has measured itself is no leap. A wait ends after a day of
 * measured time, which a further leap does not shorten: it begins the wait anew. It ends early when the clock is set back to
 * where it would be without the leap.
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
