import type { FailedAttempt } from '#engine/outcome.js';

/**
 * A retry policy that destinations select by name: `retry: {policy: "patient"}`. Every provider that extends this class
 * is registered, in every role, because the API validates the policy that workers apply. Name and numbers are read
 * once, at start.
 */
export abstract class NamedRetryPolicy {
  /** Matches `[a-z][a-z0-9._-]{0,63}`. Two policies with the same name make the start fail. */
  abstract readonly name: string;

  /** A sentence for human readers. */
  abstract readonly description: string;

  /** Total number of attempts including the first, from 1 to 20. */
  abstract readonly maxAttempts: number;

  /**
   * Longest wait before each attempt, each at most a week. The last value applies to all further attempts. The
   * retention period must be at least the sum of all waits.
   */
  abstract readonly scheduleSeconds: readonly number[];

  /**
   * Returns the wait after a failed attempt, from 0 to the schedule's step. It replaces that step and its jitter;
   * `null` uses the schedule. Must only compute, without I/O. If it throws, returns an invalid value or is slow, the
   * schedule applies. A `Retry-After` header still prolongs the wait.
   */
  delaySeconds?(failed: FailedAttempt): number | null;

  /** Returns false to make the delivery a dead letter. The same rules as for `delaySeconds` apply. */
  isRetryable?(failed: FailedAttempt): boolean;
}

/** The API documentation contains the same limits. */
export const RETRY_ATTEMPTS_MAX = 20;
export const RETRY_STEP_SECONDS_MAX = 604_800;
