import { Logger } from '@nestjs/common';
import type { FailedAttempt, RetryRuling, RuledRetryPolicy } from '#engine/outcome.js';
import { stepSeconds } from '#engine/retry.js';
import {
  type NamedRetryPolicy,
  RETRY_ATTEMPTS_MAX,
  RETRY_STEP_SECONDS_MAX,
} from '#modules/destinations/retry-policies.contract.js';

/**
 * Time limit in milliseconds for a call of a retry policy, which blocks the event loop. A slower policy is suspended.
 */
const RULING_MS_MAX = 50;
const LEFT_ALONE_MS = 60_000;
const COMPLAINTS_EVERY_MS = 60_000;
const NAME = /^[a-z][a-z0-9._-]{0,63}$/;

const logger = new Logger('Extensions');

export interface Supervision {
  /** Returns the time in milliseconds on a monotonic clock. */
  elapsedMs: () => number;
  failed: () => void;
}

/**
 * Returns a policy that is safe to call: if the policy's code throws, returns an invalid value or is slow, the policy's
 * schedule applies. That schedule is validated when Posthorn starts. Throws for an invalid policy.
 */
export function supervised(policy: NamedRetryPolicy, supervision: Supervision): RuledRetryPolicy {
  const { maxAttempts, scheduleSeconds } = policy;
  const fault = declarationFault(policy);
  if (fault !== null) throw new Error(`The retry policy ${policy.constructor.name} is not in order: ${fault}.`);
  const schedule = { maxAttempts, scheduleSeconds: Object.freeze([...scheduleSeconds]) };
  if (policy.delaySeconds === undefined && policy.isRetryable === undefined) return schedule;
  const asking = new Asking(policy, supervision);
  return { ...schedule, rule: (failed) => asking.rule(failed, stepSeconds(schedule, failed.number + 1)) };
}

class Asking {
  private leftAloneUntilMs = -Infinity;
  private complainedAtMs = -Infinity;

  constructor(
    private readonly policy: NamedRetryPolicy,
    private readonly supervision: Supervision,
  ) {}

  rule(failed: FailedAttempt, secondsMax: number): RetryRuling | null {
    const startedAtMs = this.supervision.elapsedMs();
    if (startedAtMs < this.leftAloneUntilMs) return null;
    try {
      const ruling = this.ask(Object.freeze({ ...failed }), secondsMax);
      const tookMs = this.supervision.elapsedMs() - startedAtMs;
      if (tookMs <= RULING_MS_MAX) return ruling;
      this.leftAloneUntilMs = startedAtMs + tookMs + LEFT_ALONE_MS;
      throw new Error(`It took ${Math.round(tookMs)} ms: it is suspended for a minute.`);
    } catch (error) {
      this.complain(error);
      return null;
    }
  }

  private ask(failed: FailedAttempt, secondsMax: number): RetryRuling | null {
    const isRetryable: unknown = this.policy.isRetryable?.(failed) ?? true;
    if (typeof isRetryable !== 'boolean')
      throw new Error(`isRetryable returned ${nameOf(isRetryable)}, which is neither true nor false.`);
    if (!isRetryable) return 'never';
    if (this.policy.delaySeconds === undefined) return null;
    const delaySeconds: unknown = this.policy.delaySeconds(failed);
    if (delaySeconds === null) return null;
    if (typeof delaySeconds !== 'number' || !(delaySeconds >= 0 && delaySeconds <= secondsMax)) {
      throw new Error(
        `delaySeconds returned ${nameOf(delaySeconds)}, which is not from 0 to ${secondsMax}, the step of its schedule.`,
      );
    }
    return { delaySeconds };
  }

  private complain(error: unknown): void {
    this.supervision.failed();
    const nowMs = this.supervision.elapsedMs();
    if (nowMs - this.complainedAtMs < COMPLAINTS_EVERY_MS) return;
    this.complainedAtMs = nowMs;
    logger.error(
      `The retry policy ${this.policy.constructor.name} failed, its schedule holds: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }
}

function declarationFault({ name, description, maxAttempts, scheduleSeconds }: NamedRetryPolicy): string | null {
  if (typeof name !== 'string' || !NAME.test(name)) return `its name is not of the form ${NAME.source}`;
  if (typeof description !== 'string' || description.trim() === '') return 'it has no description';
  if (!isWhole(maxAttempts, 1, RETRY_ATTEMPTS_MAX))
    return `maxAttempts is no whole number from 1 to ${RETRY_ATTEMPTS_MAX}`;
  const isSchedule =
    Array.isArray(scheduleSeconds) &&
    scheduleSeconds.length >= 1 &&
    scheduleSeconds.length <= RETRY_ATTEMPTS_MAX &&
    scheduleSeconds.every((seconds) => isWhole(seconds, 0, RETRY_STEP_SECONDS_MAX));
  return isSchedule
    ? null
    : `scheduleSeconds is no list of 1 to ${RETRY_ATTEMPTS_MAX} whole numbers from 0 to ${RETRY_STEP_SECONDS_MAX}`;
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** Returns a description of the value for a log line. Catches a promise's rejection, which would end the process. */
function nameOf(value: unknown): string {
  if (!(value instanceof Promise)) return typeof value === 'number' ? String(value) : typeof value;
  value.catch(() => undefined);
  return 'a promise';
}
