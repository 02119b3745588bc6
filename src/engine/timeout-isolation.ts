import { decay } from './decay.js';

/** What came of the attempts at targets that were not known to answer. Changed in place, by its one owner. */
export interface TimeoutHistory {
  /** Attempts that ended by their deadline, of which time takes away what is long ago. */
  unanswered: number;
  /** Those that were answered, whatever the answer was. */
  answered: number;
  /** When it was looked at last, by a monotonic clock. */
  atMs: number;
}

/** After so long a third of what was counted still weighs: a deadline is 15 s where nobody says otherwise. */
const MEMORY_MS = 15_000;
/** Fewer say nothing yet. */
const UNANSWERED_MIN = 32;
/** Of ten such attempts at least nine. */
const UNANSWERED_PER_ANSWERED = 9;

/** Of whom nothing is known. */
export function emptyTimeoutHistory(): TimeoutHistory {
  return { unanswered: 0, answered: 0, atMs: 0 };
}

/** Counts an attempt that ended. Changes `silence`. */
export function recordAttemptEnd(timeoutHistory: TimeoutHistory, isAnswered: boolean, nowMs: number): void {
  const left = decay(nowMs - timeoutHistory.atMs, MEMORY_MS);
  timeoutHistory.unanswered = timeoutHistory.unanswered * left + (isAnswered ? 0 : 1);
  timeoutHistory.answered = timeoutHistory.answered * left + (isAnswered ? 1 : 0);
  timeoutHistory.atMs = nowMs;
}

/** Whether one more target that is not known to answer will hardly do so. */
export function isIsolated(timeoutHistory: TimeoutHistory, nowMs: number): boolean {
  const { unanswered, answered } = timeoutHistory;
  return (
    unanswered * decay(nowMs - timeoutHistory.atMs, MEMORY_MS) >= UNANSWERED_MIN &&
    unanswered >= answered * UNANSWERED_PER_ANSWERED
  );
}
