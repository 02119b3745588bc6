import type { FailedAttempt } from '#engine/outcome.js';

/**
 * A retry policy that destinations select by name: `retry: {policy: "patient"}`. Every provider of an extension that
 * extends this class is registered, in every role: the API shows and validates the policy that workers apply. Its name
 * and numbers are read once, at start.
 */
export abstract class NamedRetryPolicy {
  /**
   * Name by which destinations select the policy: `[a-z][a-z0-9._-]{0,63}`. Two policies with the same name make the
   * start fail.
   */
  abstract readonly name: string;

  /** A sentence for human readers. */
  abstract readonly description: string;

  /** Total number of attempts, including the first; 1 to 20. */
  abstract readonly maxAttempts: number;

  /**
   * Longest wait before each attempt in seconds, at most a week each. The last value applies to all further attempts.
   * The retention period must be at least their sum.
   */
  abstract readonly scheduleSeconds: readonly number[];

  /**
   * Returns the wait after a failed attempt in seconds, from 0 to the schedule's step, which replaces that step and its
   * jitter. Returns `null` to use the schedule. The method is called between attempts, so it must only compute, without
   * I/O. If it throws, returns an invalid value or is slow, the schedule applies. A `Retry-After` header still prolongs
   * the wait.
   */
  delaySeconds?(failed: FailedAttempt): number | null;

  /**
   * Returns false to end the delivery as if its attempts were exhausted, which makes it a dead letter. The same rules
   * as for `delaySeconds` apply.
   */
  isRetryable?(failed: FailedAttempt): boolean;
}

/** Limits that the API documents as well. */
export const RETRY_ATTEMPTS_MAX = 20;
export const RETRY_STEP_SECONDS_MAX = 604_800;
