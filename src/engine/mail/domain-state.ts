import type { DomainKind, Judgement, RecordRole } from './dns-records.js';

/** The three states of a domain: not all there yet, all there, or missing for too long. */
export type DomainState = 'pending-dns' | 'verified' | 'failed';

/** What is remembered of a domain between two checks. */
export interface DomainStanding {
  state: DomainState;
  isSending: boolean;
  isReceiving: boolean;
  /** For how long answers in a row said that something required is not there, in milliseconds; time without answers not counted. */
  missingMs: number;
  /** When the last of them came, in milliseconds since the epoch; null when the last check said something else. */
  missingSeenAtMs: number | null;
}

/** What one check came to for one record. */
export interface JudgedRecord extends Judgement {
  record: RecordRole;
  required: boolean;
}

/** As long as SES waits. */
export const MISSING_MS_MAX = 72 * 3_600_000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The longest rest between checks that nobody asked for, by state; while something is missing the next one is soon. */
const REST_MS_MAX: Readonly<Record<DomainState, number>> = {
  'pending-dns': 4 * HOUR_MS,
  verified: 12 * HOUR_MS,
  failed: 7 * 24 * HOUR_MS,
};
const REST_MS_UNSURE = HOUR_MS;
const DOUBLINGS_MAX = 20;

/** What a check makes of a domain. `isAsked`: a person wants to know, which gives a failed domain another chance. */
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
  // Who lost no more than the way in goes on sending.
  return {
    ...counted,
    state: 'failed',
    isSending: enabled.isSending && !forSending.some(isAbsent),
    isReceiving: false,
  };
}

/** What a domain is after it was converted, before anybody looks: what it has needs not be proved again. */
export function afterConversion(
  before: DomainStanding,
  to: 'email' | 'email-send',
  records: readonly JudgedRecord[],
): DomainStanding {
  const fresh = { ...before, isReceiving: false, missingMs: 0, missingSeenAtMs: null };
  const isComplete = records.filter(({ required }) => required).every(isRight);
  return { ...fresh, state: to === 'email-send' && isComplete ? 'verified' : 'pending-dns' };
}

/** How long until a domain is looked at by itself again: less and less often, sooner while something is not as it was. */
export function restMs(
  { state, missingSeenAtMs }: Pick<DomainStanding, 'state' | 'missingSeenAtMs'>,
  checks: number,
  random: number,
): number {
  const doubled = MINUTE_MS * 2 ** Math.min(Math.max(checks - 1, 0), DOUBLINGS_MAX);
  const longest = state === 'verified' && missingSeenAtMs !== null ? REST_MS_UNSURE : REST_MS_MAX[state];
  // Domains that were made together are not looked at together for ever.
  return Math.round(Math.min(doubled, longest) * (0.9 + 0.2 * random));
}

function isAbsent({ verdict }: Judgement): boolean {
  return verdict === 'missing' || verdict === 'wrong';
}

function isRight({ verdict }: Judgement): boolean {
  return verdict === 'right';
}
