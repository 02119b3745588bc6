import { reasonOf, type ReplyReason } from './reply-reason.js';

/** Stage of the SMTP conversation (RFC 5321). */
export type SmtpStage = 'connect' | 'auth' | 'mail' | 'rcpt' | 'data' | 'message';

export interface SmtpReply {
  stage: SmtpStage;
  /** Reply code. 0 if there was no reply. */
  code: number;
  text: string;
  /** Number of recipients that the reply concerns. Always 1 for `rcpt`. */
  recipients: number;
}

export interface SmtpVerdict {
  /** `bounced`: the server rejected the address. `failed`: it rejected the message. `deferred`: a retry may succeed. */
  outcome: 'accepted' | 'bounced' | 'failed' | 'deferred';
  /** Enhanced status code (RFC 3463), such as `5.1.1`. Null if the server sent none. */
  enhanced: string | null;
  /** Whether the server requests less mail. */
  isThrottled: boolean;
  /** Whether the reply concerns the connection or the login, before any message is sent. */
  isUnreachable: boolean;
  /** Delay that the server requested before the next attempt. Null if it requested none. */
  retryAfterMs: number | null;
}

const HOUR_MS = 3_600_000;
/** Pattern of an enhanced status code at the start of a reply. Does not match IP addresses such as 5.1.1.7. */
const ENHANCED = /^(?:\d{3}[ -])?\s*([245]\.\d{1,3}\.\d{1,3})(?!\w|\.\w)/;
const AGAIN_IN =
  /\b(?:in|after|for|wait)\s+(?:at least\s+|about\s+|another\s+)?(\d{1,5})\s*(s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b/i;
/** Pattern of requests for less mail. Excludes full mailboxes and servers that are down. */
const ASKS_FOR_LESS = /\brate|\bthrottl|\btoo (?:many|much|fast|quickly|frequent)|\bfrequency|\blimit/i;
const GREYLIST_CLOCK = /\bgr[ea]y-?list\w*\b.*?\b(\d{1,2}):(\d{2})(?::(\d{2}))?\b/i;

/**
 * Returns the outcome of a reply. The reply code says whether a failure is temporary. The enhanced code and the text
 * say what caused it (`reply-reason.ts`). Only `bounced` adds the recipient to the suppression list, so doubtful cases
 * get another outcome.
 */
export function classifyReply(reply: SmtpReply): SmtpVerdict {
  const { stage, code } = reply;
  const text = cleanReply(reply.text);
  const enhanced = enhancedOf(text, code);
  const isUnreachable =
    code >= 400 && (stage === 'connect' || stage === 'auth' || code === 530 || code === 535 || code === 538);
  const reason = reasonOf(enhanced, text);
  const outcome = isUnreachable ? 'deferred' : outcomeOf(reply, reason);
  const isDeferred = outcome === 'deferred';
  return {
    outcome,
    enhanced,
    isUnreachable,
    isThrottled: isDeferred && (code === 421 || code === 454 || (reason === 'rate' && ASKS_FOR_LESS.test(text))),
    retryAfterMs: isDeferred ? retryAfterOf(text) : null,
  };
}

/** Returns a reply for display: without control characters, on one line, at most 1,024 characters. */
export function cleanReply(text: string): string {
  return text
    .replace(/\r?\n\d{3}[ -](?:[245]\.\d{1,3}\.\d{1,3} )?/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, 1024);
}

/** Returns the delay that the text requests, at most one day. */
export function retryAfterOf(text: string): number | null {
  const [, count, unit] = AGAIN_IN.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return atMostADay(Number(count) * unitMs(unit));
  const [, first = '0', second = '0', third] = GREYLIST_CLOCK.exec(text) ?? [];
  const seconds =
    third === undefined
      ? Number(first) * 60 + Number(second)
      : Number(first) * 3600 + Number(second) * 60 + Number(third);
  return seconds > 0 ? atMostADay(seconds * 1000) : null;
}

function outcomeOf({ stage, code, recipients }: SmtpReply, reason: ReplyReason | null): SmtpVerdict['outcome'] {
  if (code >= 200 && code < 400) return 'accepted';
  // Code 503 (wrong order of commands) is not about the message: client and server disagree about the connection's
  // state.
  if (code < 500 || code > 599 || code === 503) return 'deferred';
  // A later attempt may succeed, even after a permanent code.
  if (reason === 'rate' || reason === 'source' || reason === 'full') return 'deferred';
  // RFC 7504: codes 521 and 556 mean that a host or a domain accepts no mail.
  const isOfAddress = reason === 'recipient' || (stage === 'rcpt' && reason === null && (code === 556 || code === 521));
  return isOfAddress && stage !== 'mail' && recipients === 1 ? 'bounced' : 'failed';
}

function enhancedOf(text: string, code: number): string | null {
  const enhanced = ENHANCED.exec(text)?.[1] ?? null;
  // Ignores an enhanced code of another class than the reply code, which takes precedence (RFC 5321).
  return enhanced !== null && (code === 0 || enhanced.startsWith(String(Math.floor(code / 100)))) ? enhanced : null;
}

function unitMs(unit: string): number {
  if (/^s/i.test(unit)) return 1000;
  return /^m/i.test(unit) ? 60_000 : HOUR_MS;
}

const atMostADay = (ms: number): number => Math.min(ms, 24 * HOUR_MS);
