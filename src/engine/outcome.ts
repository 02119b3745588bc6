import { dueAfter, dueAt, type RetryPolicy } from './retry.js';

/**
 * Reason why an attempt has no response. `blocked`: the SSRF protection rejected the request. `protocol`: the response
 * was not valid. `refused`: nothing was sent, because targets of this type cannot accept the payload. `adapter`: the
 * adapter of this type failed.
 */
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

export const ATTEMPT_ERRORS = [
  'timeout',
  'dns',
  'connection',
  'tls',
  'blocked',
  'protocol',
  'refused',
  'adapter',
] as const;

/** Result of an attempt. Contains `outcome` if the protocol's status does not determine the outcome. */
export type Answer =
  | { kind: 'response'; status: number; retryAfter: string | null; outcome?: Outcome }
  | { kind: 'error'; error: AttemptError };

/**
 * Outcome of an attempt. `throttled`: the receiver requests less traffic. `refused`: this payload will never be
 * accepted. `deferred`: this payload should be retried later, for example for a greylisted recipient. Other payloads
 * are unaffected.
 */
export type Outcome = (typeof OUTCOMES)[number];

export const OUTCOMES = ['success', 'gone', 'refused', 'throttled', 'deferred', 'failed'] as const;

export type Decision =
  | { status: 'delivered' }
  | { status: 'failed'; reason: 'gone' | 'refused' }
  | { status: 'dlq' }
  | { status: 'retrying'; dueAt: Date };

export interface Progress {
  /** Number of attempts, including the current one. */
  attemptsUsed: number;
  firstAttemptAt: Date;
}

export interface FailedAttempt {
  /** Number of the attempt within the delivery, starting at 1. */
  number: number;
  /** `throttled`: the target requests less traffic. `deferred`: a recipient of an email will be tried again. */
  outcome: 'failed' | 'throttled' | 'deferred';
  /** Status of the response. Null without a response. */
  status: number | null;
  error: AttemptError | null;
}

/** Decision of a retry rule: a delay that replaces the delay of the schedule, or no more attempts. */
export type RetryRuling = { delaySeconds: number } | 'never';

export interface RuledRetryPolicy extends RetryPolicy {
  /** Returns the decision of a retry rule. Null keeps the schedule's delay. Never throws. */
  rule?: (failed: FailedAttempt) => RetryRuling | null;
}

const THROTTLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const RETRY_AFTER_MAX_MS = 24 * 3600 * 1000;
const FIFTY_YEARS = 50;

/**
 * Classifies an attempt. Without `outcome`, 2xx is a success, 410 is gone, 429, 502, 503 and 504 are throttled, and all
 * other statuses are failures.
 */
export function classify(answer: Answer): Outcome {
  if (answer.kind === 'error') return answer.error === 'refused' ? 'refused' : 'failed';
  const { status, outcome } = answer;
  if (outcome !== undefined) return outcome;
  if (status >= 200 && status < 300) return 'success';
  if (status === 410) return 'gone';
  return THROTTLE_STATUSES.has(status) ? 'throttled' : 'failed';
}

export function isHardFailure(outcome: Outcome): boolean {
  return outcome === 'failed';
}

/**
 * Decides what happens after an attempt. `random` is in [0, 1). `Retry-After` is used only for throttled and deferred
 * responses, because a broken receiver could otherwise stretch the schedule. The header can delay an attempt, but never
 * makes it earlier or adds one.
 */
export function decide(
  outcome: Outcome,
  answer: Answer,
  progress: Progress,
  policy: RuledRetryPolicy,
  now: Date,
  random: number,
): Decision {
  if (outcome === 'success') return { status: 'delivered' };
  if (outcome === 'gone' || outcome === 'refused') return { status: 'failed', reason: outcome };
  const next = progress.attemptsUsed + 1;
  if (next > policy.maxAttempts) return { status: 'dlq' };
  const ruling = policy.rule?.(failedAttempt(outcome, answer, progress.attemptsUsed)) ?? null;
  if (ruling === 'never') return { status: 'dlq' };
  const scheduled =
    ruling === null ? dueAt(policy, next, progress.firstAttemptAt, now, random) : dueAfter(ruling.delaySeconds, now);
  if (scheduled === null) return { status: 'dlq' };
  const asks = outcome === 'throttled' || outcome === 'deferred';
  const askedMs = asks && answer.kind === 'response' ? (retryAfterMs(answer.retryAfter, now) ?? 0) : 0;
  return { status: 'retrying', dueAt: new Date(Math.max(scheduled.getTime(), now.getTime() + askedMs)) };
}

function failedAttempt(outcome: FailedAttempt['outcome'], answer: Answer, number: number): FailedAttempt {
  const isAnswered = answer.kind === 'response';
  return { number, outcome, status: isAnswered ? answer.status : null, error: isAnswered ? null : answer.error };
}

/**
 * Parses `Retry-After` (RFC 9110, 10.2.3). Returns 0 to 24 h in milliseconds: 0 for the past, `null` if missing or
 * invalid.
 */
export function retryAfterMs(value: string | null, now: Date): number | null {
  if (value === null) return null;
  const text = value.trim();
  const waitMs = /^-?\d+$/.test(text) ? Number(text) * 1000 : httpDateMs(text, now) - now.getTime();
  if (Number.isNaN(waitMs)) return null;
  return Math.min(Math.max(waitMs, 0), RETRY_AFTER_MAX_MS);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';
const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const DAY_NAME_LONG = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';

/** Formats of an HTTP date (RFC 9110, section 5.6.7): IMF-fixdate, rfc850-date and asctime-date, all in GMT. */
const HTTP_DATES = [
  new RegExp(`^${DAY_NAME}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${DAY_NAME_LONG}, (?<day>\\d\\d)-${MONTH}-(?<shortYear>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^${DAY_NAME} ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})$`),
];

type DateParts = Record<string, string | undefined>;

/** Parses an HTTP date. Returns milliseconds since the epoch, or NaN. The weekday is redundant and not checked. */
function httpDateMs(text: string, now: Date): number {
  for (const form of HTTP_DATES) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    return parts.shortYear === undefined
      ? instantMs(parts, Number(parts.year))
      : latestMs(parts, Number(parts.shortYear), now);
  }
  return Number.NaN;
}

/** Returns the time for a two-digit year: the latest year at most 50 years ahead (RFC 9110, section 5.6.7). */
function latestMs(parts: DateParts, shortYear: number, now: Date): number {
  const horizonMs = new Date(now).setUTCFullYear(now.getUTCFullYear() + FIFTY_YEARS);
  const inThisCentury = Math.floor(now.getUTCFullYear() / 100) * 100 + shortYear;
  const candidates = [inThisCentury + 100, inThisCentury, inThisCentury - 100].map((year) => instantMs(parts, year));
  return candidates.find((ms) => ms <= horizonMs) ?? Number.NaN;
}

function instantMs(parts: DateParts, year: number): number {
  const day = Number(parts.day);
  const date = new Date(0);
  date.setUTCFullYear(year, MONTHS.indexOf(parts.month ?? ''), day);
  // `Date` would silently turn 31 February into a day in March.
  if (date.getUTCDate() !== day) return Number.NaN;
  return date.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
}
