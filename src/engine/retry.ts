export interface RetryPolicy {
  /** Number of attempts, including the first one. At least 1. */
  maxAttempts: number;
  /**
   * Maximum delay before each attempt, starting with the first. Further attempts repeat the last delay. Empty for no
   * delay.
   */
  scheduleSeconds: readonly number[];
}

/** Eight attempts over about 28 hours: immediate, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = Object.freeze({
  maxAttempts: 8,
  scheduleSeconds: Object.freeze([0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000]),
});

/**
 * Returns the time of attempt `next` (1-based), or `null` when no attempts are left. `random` is in [0, 1).
 *
 * The attempt starts at a random time within its delay (full jitter). The delay begins where the previous delay ended,
 * not at the previous attempt. Otherwise, the jitter would halve the total of 28 hours on average.
 *
 * After a downtime of the service, the delay begins at `now`, so the jitter spreads the backlog over time.
 */
export function dueAt(policy: RetryPolicy, next: number, firstAttemptAt: Date, now: Date, random: number): Date | null {
  if (next > policy.maxAttempts) return null;
  let earlierSeconds = 0;
  for (let attempt = 1; attempt < next; attempt += 1) earlierSeconds += stepSeconds(policy, attempt);
  const nominalStart = firstAttemptAt.getTime() + earlierSeconds * 1000;
  const jitterMs = Math.floor(random * stepSeconds(policy, next) * 1000);
  return new Date(Math.max(nominalStart, now.getTime()) + jitterMs);
}

/** Returns the time after a delay that a retry rule chose, without jitter, because the rule may add its own. */
export function dueAfter(delaySeconds: number, now: Date): Date {
  return new Date(now.getTime() + Math.round(delaySeconds * 1000));
}

/** Returns the maximum delay before attempt `attempt` (1-based). */
export function stepSeconds({ scheduleSeconds }: RetryPolicy, attempt: number): number {
  return scheduleSeconds[Math.min(attempt, scheduleSeconds.length) - 1] ?? 0;
}

/** Returns the longest time between the first and the last attempt of a delivery. */
export function longestSeconds(policy: RetryPolicy): number {
  let seconds = 0;
  for (let attempt = 1; attempt <= policy.maxAttempts; attempt += 1) seconds += stepSeconds(policy, attempt);
  return seconds;
}
