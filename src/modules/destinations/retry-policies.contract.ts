import type { FailedAttempt } from '#engine/outcome.js';

/**
 * A retry policy that destinations ask for by name: `retry: {policy: "patient"}`. Any provider of an extension that extends
 * this is one, in every role: the API shows and checks what workers follow. Its name and numbers are read once, at start.
 */
export abstract class NamedRetryPolicy {
  /** As destinations name it: `[a-z][a-z0-9._-]{0,63}`. Two of one name stop the start. */
  abstract readonly name: string;

  /** A sentence for people. */
  abstract readonly description: string;

  /** All attempts, the first one included; 1 to 20. */
  abstract readonly maxAttempts: number;

  /** The longest wait before each attempt in seconds, at most a week each; the last one repeats. Retention has to last for their sum. */
  abstract readonly scheduleSeconds: readonly number[];

  /**
   * The wait after a failed attempt in seconds, from 0 to the schedule's step, in place of that step with its jitter; null for
   * the schedule's. It is asked between attempts, so it computes and looks nothing up: where it throws, answers nonsense or is
   * slow, the schedule holds. A `Retry-After` still prolongs the wait.
   */
  delaySeconds?(failed: FailedAttempt): number | null;

  /** False ends the delivery as if its attempts were used up: it is dead-lettered. The same holds for it. */
  isRetryable?(failed: FailedAttempt): boolean;
}

/** The bounds that stand in the API too. */
export const RETRY_ATTEMPTS_MAX = 20;
export const RETRY_STEP_SECONDS_MAX = 604_800;
