import type { FailedAttempt } from '#engine/outcome.js';

/**
 * A retry policy that destinations select by name: `retry: {policy: "patient"}`. Every process registers all providers
 * that extend this class, because API processes validate the policies that workers apply. The name and the numbers are
 * read once, when the process starts.
 */
export abstract class NamedRetryPolicy {
  /**
   * Name of the policy, which matches `[a-z][a-z0-9._-]{0,63}`. Posthorn does not start if two policies have the same
   * name.
   */
  abstract readonly name: string;

  /** A sentence for human readers. */
  abstract readonly description: string;

  /** Total number of attempts including the first, from 1 to 20. */
  abstract readonly maxAttempts: number;

  /**
   * Maximum waits in seconds before the second, third and further attempts, each at most a week. The last value applies
   * to all later attempts. The environment's retention period must be at least the sum of all waits.
   */
  abstract readonly scheduleSeconds: readonly number[];

  /**
   * Returns the seconds to wait after a failed attempt, at most the schedule's value for that attempt. No jitter is
   * added. `null` applies the schedule. A `Retry-After` header can still prolong the wait.
   *
   * The method must be synchronous and must not do I/O. If the method throws, returns an invalid value or is slow, the
   * schedule applies.
   */
  delaySeconds?(failed: FailedAttempt): number | null;

  /**
   * Returns false to make the delivery a dead letter instead of retrying. The method must be synchronous and must not
   * do I/O. If the method throws, returns an invalid value or is slow, the delivery is retried by the schedule.
   */
  isRetryable?(failed: FailedAttempt): boolean;
}

/** Limits for a retry policy. The API documentation repeats these numbers. */
export const RETRY_ATTEMPTS_MAX = 20;
export const RETRY_STEP_SECONDS_MAX = 604_800;
