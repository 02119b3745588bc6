import { admitsSender } from './allowed-senders.js';
import type { Author } from './author.js';

/** What became of SPF, DKIM and DMARC, in the words of RFC 8601, section 2.7. */
export type AuthVerdict = 'pass' | 'fail' | 'softfail' | 'neutral' | 'policy' | 'none' | 'temperror' | 'permerror';

/** What a scanner said; `gray` is a doubt, `disabled` that there is none. */
export type ScanVerdict = 'pass' | 'fail' | 'gray' | 'disabled' | 'processing_failed';

/** What the domain of the author asks for when DMARC fails. */
export type DmarcPolicy = 'none' | 'quarantine' | 'reject';

/** Everything that was found out about whom a message is from, and whether it does harm. */
export interface Verdicts {
  spf: AuthVerdict;
  dkim: AuthVerdict;
  dmarc: AuthVerdict;
  /** Null without a record. */
  dmarcPolicy: DmarcPolicy | null;
  /** Only told: who changed a message on its way says of himself what he found (RFC 8617). */
  arc: AuthVerdict;
  spam: ScanVerdict;
  virus: ScanVerdict;
}

/** `fail`: it is not from whom it says it is. `none`: nobody can tell. */
export type Auth = 'pass' | 'fail' | 'none';

/** Why a message is not delivered. The first two can be decided at the door already. */
export type QuarantineReason =
  | 'sender_not_allowed'
  | 'too_large'
  | 'from_missing'
  | 'from_ambiguous'
  | 'dmarc_failed'
  | 'virus'
  | 'sender_unverified';

const WORDS: ReadonlySet<string> = new Set<AuthVerdict>([
  'pass',
  'fail',
  'softfail',
  'neutral',
  'policy',
  'none',
  'temperror',
  'permerror',
]);
/** From best to worst: of several signatures the best counts, since anybody may add a bad one. */
const BEST_FIRST: readonly AuthVerdict[] = [
  'pass',
  'temperror',
  'policy',
  'permerror',
  'fail',
  'neutral',
  'softfail',
  'none',
];

/** A word of RFC 8601; whatever else it is says that nobody can tell. */
export function authVerdict(word: string | undefined): AuthVerdict {
  return word !== undefined && WORDS.has(word) ? (word as AuthVerdict) : 'neutral';
}

/** The verdict on all signatures of a message. */
export function bestOf(verdicts: readonly AuthVerdict[]): AuthVerdict {
  return BEST_FIRST.find((verdict) => verdicts.includes(verdict)) ?? 'none';
}

/**
 * Whether a message is from whom it says it is: what DMARC says. One that names several authors fails, whatever else holds: which of
 * them was checked is not what a person sees.
 */
export function authOf(dmarc: AuthVerdict, author: Author): Auth {
  if (author.kind === 'several') return 'fail';
  if (author.kind === 'missing') return 'none';
  return dmarc === 'pass' || dmarc === 'fail' ? dmarc : 'none';
}

/** What the policy looks at. */
export interface Judged {
  author: Author;
  auth: Auth;
  verdicts: Pick<Verdicts, 'dmarc' | 'dmarcPolicy' | 'virus'>;
  sizeBytes: number;
  /** What was decided at the door. */
  reason: QuarantineReason | null;
  alias: { allowedSenders: readonly string[]; maxSizeBytes: number | null };
}

/** Why a message is set aside; null for one that is delivered. It is never sent back: by now its sender may be made up. */
export function quarantineReason({
  author,
  auth,
  verdicts,
  sizeBytes,
  reason,
  alias,
}: Judged): QuarantineReason | null {
  if (verdicts.virus === 'fail') return 'virus';
  if (reason !== null) return reason;
  if (alias.maxSizeBytes !== null && sizeBytes > alias.maxSizeBytes) return 'too_large';
  if (author.kind === 'missing') return 'from_missing';
  if (author.kind === 'several') return 'from_ambiguous';
  if (auth === 'fail' && verdicts.dmarcPolicy !== null && verdicts.dmarcPolicy !== 'none') return 'dmarc_failed';
  if (alias.allowedSenders.length === 0) return null;
  if (auth === 'fail' || !admitsSender(alias.allowedSenders, author.address)) return 'sender_not_allowed';
  // An alias that admits only some senders needs a verified sender.
  return verdicts.dmarc === 'temperror' ? 'sender_unverified' : null;
}

/** Returns whether an answer of name servers that did not answer could change what becomes of a message. */
export function dependsOnDns(dmarc: AuthVerdict, reason: QuarantineReason | null): boolean {
  return dmarc === 'temperror' && (reason === null || reason === 'sender_unverified');
}

/** Longer than a failure to answer is remembered, so that each retry asks again. */
const RETRY_MS_MIN = 6_000;

/**
 * Returns the milliseconds to wait before name servers are asked again about a message, or null when it is to be decided without them.
 * The waits double. `unansweredForMs` is how long ago they failed to answer first; null when this was the first time.
 */
export function dnsRetryDelayMs(unansweredForMs: number | null, retryForMs: number): number | null {
  const passedMs = unansweredForMs ?? 0;
  const leftMs = retryForMs - passedMs;
  return leftMs <= 0 ? null : Math.min(Math.max(RETRY_MS_MIN, passedMs), leftMs);
}
