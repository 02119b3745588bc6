import { admitsSender } from './allowed-senders.js';
import type { Author } from './author.js';

/** Result of SPF, DKIM or DMARC in the terms of RFC 8601, section 2.7. */
export type AuthVerdict = 'pass' | 'fail' | 'softfail' | 'neutral' | 'policy' | 'none' | 'temperror' | 'permerror';

/** Result of a scan. `gray` is uncertain. `disabled` means that no scanner is configured. */
export type ScanVerdict = 'pass' | 'fail' | 'gray' | 'disabled' | 'processing_failed';

export type DmarcPolicy = 'none' | 'quarantine' | 'reject';

export interface Verdicts {
  spf: AuthVerdict;
  dkim: AuthVerdict;
  /** Domains of the DKIM signatures (`d=`) whose result is `dkim`. */
  dkimDomains: readonly string[];
  dmarc: AuthVerdict;
  /** Policy of the author domain's DMARC record. Null if the domain has no record. */
  dmarcPolicy: DmarcPolicy | null;
  /**
   * ARC result (RFC 8617). For information only, because it relies on the report of an intermediary that may have
   * modified the message.
   */
  arc: AuthVerdict;
  spam: ScanVerdict;
  virus: ScanVerdict;
}

/** Whether the author is authentic. `fail`: the message is not from its stated author. `none`: not known. */
export type Auth = 'pass' | 'fail' | 'none';

/** Reason why a message is quarantined. The first two reasons can be determined during the SMTP transaction. */
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
/**
 * Results from best to worst. With several signatures, the best result counts, because anyone can add an invalid
 * signature.
 */
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

/** Returns a result of RFC 8601, or `neutral` for any other word. */
export function authVerdict(word: string | undefined): AuthVerdict {
  return word !== undefined && WORDS.has(word) ? (word as AuthVerdict) : 'neutral';
}

export function bestOf(verdicts: readonly AuthVerdict[]): AuthVerdict {
  return BEST_FIRST.find((verdict) => verdicts.includes(verdict)) ?? 'none';
}

/**
 * Returns whether DMARC authenticates the author. Returns `fail` for several authors, because DMARC may verify only one
 * of them.
 */
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
  /** Quarantine reason that was determined during the SMTP transaction. Null if there was none. */
  reason: QuarantineReason | null;
  alias: { allowedSenders: readonly string[]; maxSizeBytes: number | null };
}

/**
 * Returns the quarantine reason, or null to deliver. A quarantined message never bounces, because its sender may be
 * forged.
 */
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
  // An alias that accepts only some senders requires a sender verified by DMARC.
  return verdicts.dmarc === 'temperror' ? 'sender_unverified' : null;
}

/** Returns whether a later DNS response could change the quarantine decision. */
export function dependsOnDns(dmarc: AuthVerdict, reason: QuarantineReason | null): boolean {
  return dmarc === 'temperror' && (reason === null || reason === 'sender_unverified');
}

/** Minimum retry delay. Exceeds the cache time of failed lookups, so that each retry queries DNS again. */
const RETRY_MS_MIN = 6_000;

/** Returns the delay before the next DNS retry, or null to stop. `unansweredForMs`: time since the first failure. */
export function dnsRetryDelayMs(unansweredForMs: number | null, retryForMs: number): number | null {
  const passedMs = unansweredForMs ?? 0;
  const leftMs = retryForMs - passedMs;
  return leftMs <= 0 ? null : Math.min(Math.max(RETRY_MS_MIN, passedMs), leftMs);
}
