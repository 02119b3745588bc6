import { decay } from './decay.js';

/** Results of attempts at targets that have not responded recently. Mutated in place by its single owner. */
export interface TimeoutHistory {
  /** Number of attempts that timed out, decayed over time. */
  unanswered: number;
  /** Number of attempts that got an answer of any kind, decayed over time. */
  answered: number;
  /** Time of the last update, from a monotonic clock. */
  atMs: number;
}

/** Time after which a count has decayed to 1/e, about a third. Equal to the default timeout of an attempt, 15 s. */
const MEMORY_MS = 15_000;
/** Minimum number of timeouts before targets are isolated. */
const UNANSWERED_MIN = 32;
/** At least nine of ten such attempts must time out. */
const UNANSWERED_PER_ANSWERED = 9;

/** Returns a history without attempts. */
export function emptyTimeoutHistory(): TimeoutHistory {
  return { unanswered: 0, answered: 0, atMs: 0 };
}

/** Records the end of an attempt. Mutates `timeoutHistory`. */
export function recordAttemptEnd(timeoutHistory: TimeoutHistory, isAnswered: boolean, nowMs: number): void {
  const left = decay(nowMs - timeoutHistory.atMs, MEMORY_MS);
  timeoutHistory.unanswered = timeoutHistory.unanswered * left + (isAnswered ? 0 : 1);
  timeoutHistory.answered = timeoutHistory.answered * left + (isAnswered ? 1 : 0);
  timeoutHistory.atMs = nowMs;
}

/** Returns whether an attempt at another unresponsive target would very likely time out. */
export function isIsolated(timeoutHistory: TimeoutHistory, nowMs: number): boolean {
  const { unanswered, answered } = timeoutHistory;
  return (
    unanswered * decay(nowMs - timeoutHistory.atMs, MEMORY_MS) >= UNANSWERED_MIN &&
    unanswered >= answered * UNANSWERED_PER_ANSWERED
  );
}
