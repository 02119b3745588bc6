/** How often a delivery is tried, and the nominal wait before each attempt. */
export interface RetryPolicy {
  /** All attempts, the first one included; at least 1. */
  maxAttempts: number;
  /** Attempt k (1-based) waits at most `scheduleSeconds[k - 1]`; the last step repeats, and no step at all means no wait. */
  scheduleSeconds: readonly number[];
}

/** Eight attempts over about 28 hours: immediate, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = Object.freeze({
  maxAttempts: 8,
  scheduleSeconds: Object.freeze([0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000]),
});

/**
 * When attempt `next` (1-based) is due, or `null` when the attempts are used up. `random` is in [0, 1).
 *
 * The step of attempt k is `scheduleSeconds[k - 1]`; the earlier steps are `scheduleSeconds[0 … k - 2]`. Their sum is
 * anchored to the first attempt, not to the last one: full jitter would otherwise halve the 28 hours that a receiver
 * is promised to have for coming back. A service that was down resumes at `now`, and keeps the jitter of the step, so
 * that a backlog does not fall on the receiver at one moment.
 */
export function dueAt(policy: RetryPolicy, next: number, firstAttemptAt: Date, now: Date, random: number): Date | null {
  if (next > policy.maxAttempts) return null;
  let earlierSeconds = 0;
  for (let attempt = 1; attempt < next; attempt += 1) earlierSeconds += stepSeconds(policy, attempt);
  const nominalStart = firstAttemptAt.getTime() + earlierSeconds * 1000;
  const jitterMs = Math.floor(random * stepSeconds(policy, next) * 1000);
  return new Date(Math.max(nominalStart, now.getTime()) + jitterMs);
}

/** When an attempt is due for which a policy has named the wait: without jitter, which is the policy's own then. */
export function dueAfter(delaySeconds: number, now: Date): Date {
  return new Date(now.getTime() + Math.round(delaySeconds * 1000));
}

/** The longest wait before attempt `attempt` (1-based). */
export function stepSeconds({ scheduleSeconds }: RetryPolicy, attempt: number): number {
  return scheduleSeconds[Math.min(attempt, scheduleSeconds.length) - 1] ?? 0;
}

/** How long after its first attempt the last one of a delivery may be due. */
export function longestSeconds(policy: RetryPolicy): number {
  let seconds = 0;
  for (let attempt = 1; attempt <= policy.maxAttempts; attempt += 1) seconds += stepSeconds(policy, attempt);
  return seconds;
}
