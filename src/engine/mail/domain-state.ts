import type { DomainKind, Judgement, RecordRole } from './dns-records.js';

/** `pending-dns`: records are incomplete. `verified`: they are complete. `failed`: they were missing for too long. */
export type DomainState = 'pending-dns' | 'verified' | 'failed';

export interface DomainStanding {
  state: DomainState;
  isSending: boolean;
  isReceiving: boolean;
  /** Total time during which consecutive checks found a required record missing. Excludes time without DNS answers. */
  missingMs: number;
  /** Time of the last check that found a record missing. Null if the last check had another result. */
  missingSeenAtMs: number | null;
}

export interface JudgedRecord extends Judgement {
  record: RecordRole;
  required: boolean;
}

/** Maximum time that records may be missing before a domain fails. Amazon SES uses the same limit. */
export const MISSING_MS_MAX = 72 * 3_600_000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Maximum interval between checks, by state. A verified domain with a missing record is checked sooner. */
const REST_MS_MAX: Readonly<Record<DomainState, number>> = {
  'pending-dns': 4 * HOUR_MS,
  verified: 12 * HOUR_MS,
  failed: 7 * 24 * HOUR_MS,
};
const REST_MS_UNSURE = HOUR_MS;
const DOUBLINGS_MAX = 20;

/**
 * Returns the state after a check. `isAsked`: a user requested the check, which makes a failed domain pending again.
 */
export function afterCheck(
  before: DomainStanding,
  kind: DomainKind,
  records: readonly JudgedRecord[],
  nowMs: number,
  isAsked = false,
): DomainStanding {
  const required = records.filter((each) => each.required);
  const forSending = required.filter(({ record }) => record === 'ownership' || record === 'dkim');
  const isSendable = kind !== 'webhook' && forSending.every(isRight);
  const enabled = { isSending: before.isSending || isSendable, isReceiving: before.isReceiving };
  const known =
    before.state === 'failed' && isAsked
      ? { ...before, state: 'pending-dns' as const, missingMs: 0, missingSeenAtMs: null }
      : before;
  if (required.every(isRight))
    return { ...enabled, state: 'verified', isReceiving: kind !== 'email-send', missingMs: 0, missingSeenAtMs: null };
  const absent = required.filter(isAbsent);
  if (absent.length === 0) return { ...known, ...enabled, missingSeenAtMs: null };
  const missingMs = known.missingMs + (known.missingSeenAtMs === null ? 0 : Math.max(0, nowMs - known.missingSeenAtMs));
  const counted = { state: known.state, missingMs, missingSeenAtMs: nowMs };
  if (missingMs < MISSING_MS_MAX) return { ...counted, ...enabled };
  // If only records for receiving are missing, the domain can still send, although its state is `failed`.
  return {
    ...counted,
    state: 'failed',
    isSending: enabled.isSending && !forSending.some(isAbsent),
    isReceiving: false,
  };
}

/** Returns a domain's state between a change of its kind and the next check. `records`: results of earlier checks. */
export function afterConversion(
  before: DomainStanding,
  to: 'email' | 'email-send',
  records: readonly JudgedRecord[],
): DomainStanding {
  const fresh = { ...before, isReceiving: false, missingMs: 0, missingSeenAtMs: null };
  const isComplete = records.filter(({ required }) => required).every(isRight);
  return { ...fresh, state: to === 'email-send' && isComplete ? 'verified' : 'pending-dns' };
}

/** Returns the time until the next check. Doubles with each check, up to a maximum that depends on the state. */
export function restMs(
  { state, missingSeenAtMs }: Pick<DomainStanding, 'state' | 'missingSeenAtMs'>,
  checks: number,
  random: number,
): number {
  const doubled = MINUTE_MS * 2 ** Math.min(Math.max(checks - 1, 0), DOUBLINGS_MAX);
  const longest = state === 'verified' && missingSeenAtMs !== null ? REST_MS_UNSURE : REST_MS_MAX[state];
  // Adds jitter, so that domains that were created together are not always checked together.
  return Math.round(Math.min(doubled, longest) * (0.9 + 0.2 * random));
}

function isAbsent({ verdict }: Judgement): boolean {
  return verdict === 'missing' || verdict === 'wrong';
}

function isRight({ verdict }: Judgement): boolean {
  return verdict === 'right';
}
