import { decay } from './decay.js';

/** Counts of attempts at targets that have not responded recently. Mutated in place by its single owner. */
export interface TimeoutHistory {
  /** Attempts that timed out, decayed over time. */
  unanswered: number;
  /** Attempts with a response of any kind, decayed over time. */
  answered: number;
  /** Time of the last attempt, from a monotonic clock. */
  atMs: number;
}

/** Time after which a count has decayed to 1/e, about a third. Equal to the default timeout of an attempt, 15 s. */
const MEMORY_MS = 15_000;
const UNANSWERED_MIN = 32;
/**
 * Minimum ratio of timeouts to responses at which a target is isolated, that is, at least nine of ten attempts time
 * out.
 */
const UNANSWERED_PER_ANSWERED = 9;

export function emptyTimeoutHistory(): TimeoutHistory {
  return { unanswered: 0, answered: 0, atMs: 0 };
}

export function recordAttemptEnd(timeoutHistory: TimeoutHistory, isAnswered: boolean, nowMs: number): void {
  const left = decay(nowMs - timeoutHistory.atMs, MEMORY_MS);
  timeoutHistory.unanswered = timeoutHistory.unanswered * left + (isAnswered ? 0 : 1);
  timeoutHistory.answered = timeoutHistory.answered * left + (isAnswered ? 1 : 0);
  timeoutHistory.atMs = nowMs;
}

/** Returns whether an attempt at a target that has not responded recently would very likely time out. */
export function isIsolated(timeoutHistory: TimeoutHistory, nowMs: number): boolean {
  const { unanswered, answered } = timeoutHistory;
  return (
    unanswered * decay(nowMs - timeoutHistory.atMs, MEMORY_MS) >= UNANSWERED_MIN &&
    unanswered >= answered * UNANSWERED_PER_ANSWERED
  );
}
