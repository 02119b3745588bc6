import { admitsSender } from './allowed-senders.js';
import type { Author } from './author.js';

/** SPF, DKIM and DMARC in the terms of RFC 8601, section 2.7. */
export type AuthVerdict = 'pass' | 'fail' | 'softfail' | 'neutral' | 'policy' | 'none' | 'temperror' | 'permerror';

/** `gray` is uncertain. `disabled` means that there is no scanner. */
export type ScanVerdict = 'pass' | 'fail' | 'gray' | 'disabled' | 'processing_failed';

export type DmarcPolicy = 'none' | 'quarantine' | 'reject';

export interface Verdicts {
  spf: AuthVerdict;
  dkim: AuthVerdict;
  dmarc: AuthVerdict;
  /** Policy of the DMARC record. Null without a record. */
  dmarcPolicy: DmarcPolicy | null;
  /** For information only: ARC results are claims of the intermediary that modified the message (RFC 8617). */
  arc: AuthVerdict;
  spam: ScanVerdict;
  virus: ScanVerdict;
}

/** `fail`: the message is not from its stated author. `none`: it is unknown whether it is. */
export type Auth = 'pass' | 'fail' | 'none';

/** The reason why a message is not delivered. The SMTP transaction can already decide on the first two. */
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
/** Results from best to worst. The best result of several signatures is used: anybody can add an invalid signature. */
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

/** Maps a word that is not a result of RFC 8601 to `neutral`. */
export function authVerdict(word: string | undefined): AuthVerdict {
  return word !== undefined && WORDS.has(word) ? (word as AuthVerdict) : 'neutral';
}

export function bestOf(verdicts: readonly AuthVerdict[]): AuthVerdict {
  return BEST_FIRST.find((verdict) => verdicts.includes(verdict)) ?? 'none';
}

/** Returns the DMARC result. Several authors always fail: the verified author might not be the displayed one. */
export function authOf(dmarc: AuthVerdict, author: Author): Auth {
  if (author.kind === 'several') return 'fail';
  if (author.kind === 'missing') return 'none';
  return dmarc === 'pass' || dmarc === 'fail' ? dmarc : 'none';
}

export interface Judged {
  author: Author;
  auth: Auth;
  verdicts: Pick<Verdicts, 'dmarc' | 'dmarcPolicy' | 'virus'>;
  sizeBytes: number;
  /** Reason that the SMTP transaction recorded. */
  reason: QuarantineReason | null;
  alias: { allowedSenders: readonly string[]; maxSizeBytes: number | null };
}

/** Returns null if the message is delivered. A quarantined message never bounces: its sender may be forged. */
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
  // An alias that accepts only some senders needs a verified sender.
  return verdicts.dmarc === 'temperror' ? 'sender_unverified' : null;
}

/** Returns whether a later DNS response could change the decision. */
export function dependsOnDns(dmarc: AuthVerdict, reason: QuarantineReason | null): boolean {
  return dmarc === 'temperror' && (reason === null || reason === 'sender_unverified');
}

/** Shortest retry delay. Exceeds the caching time of failed lookups, so that each retry sends queries again. */
const RETRY_MS_MIN = 6_000;

/** Returns null to decide without DNS. Delays double. `unansweredForMs`: time since the first failure, or null. */
export function dnsRetryDelayMs(unansweredForMs: number | null, retryForMs: number): number | null {
  const passedMs = unansweredForMs ?? 0;
  const leftMs = retryForMs - passedMs;
  return leftMs <= 0 ? null : Math.min(Math.max(RETRY_MS_MIN, passedMs), leftMs);
}
