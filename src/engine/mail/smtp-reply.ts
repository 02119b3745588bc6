/** Where in a conversation (RFC 5321) a server said something. */
export type SmtpStage = 'connect' | 'auth' | 'mail' | 'rcpt' | 'data' | 'message';

/** What a server said, and to how many recipients it was said at once. */
export interface SmtpReply {
  stage: SmtpStage;
  /** 0 when there was no answer. */
  code: number;
  text: string;
  /** At `rcpt` always 1. */
  recipients: number;
}

/** What that means. */
export interface SmtpVerdict {
  /** The words of `RecipientReply.outcome`. */
  outcome: 'accepted' | 'bounced' | 'failed' | 'deferred';
  /** RFC 3463, such as `5.1.1`; null when the server names none. */
  enhanced: string | null;
  /** True when the server asks for less of us at once. */
  isThrottled: boolean;
  /** True when it is about our connection or login, before any message. */
  isUnreachable: boolean;
  /** What the server asked for, in milliseconds; null when it named no time. */
  retryAfterMs: number | null;
}

const HOUR_MS = 3_600_000;
const ENHANCED = /^(?:\d{3}[ -])?\s*([245]\.\d{1,3}\.\d{1,3})\b/;
const AGAIN_IN = /\b(?:in|after|for|wait)\s+(?:at least\s+|about\s+|another\s+)?(\d{1,5})\s*(s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b/i;
const GREYLIST_CLOCK = /\bgr[ea]y-?list\w*\b.*?\b(\d{1,2}):(\d{2})(?::(\d{2}))?\b/i;

const BLOCKLISTS = /\bspamhaus|\bspamcop|\bbarracuda|\bsorbs\b|\buceprotect|\binvaluement|\bdnsbl|\brbl\b|\bblock[- ]?list|\bblack[- ]?list|\bdeny[- ]?list|\bblocked using\b/i;
/** They blame the way that the message came, which the operator mends, and say nothing of recipient or message. */
const BLAMES_US = new RegExp([
  /\blisted (?:at|on|in|by)\b/,
  /\b(?:poor|bad|low) (?:ip |sender |sending )?reputation|\breputation of\b/,
  /\b(?:your|this|client|connecting|sending|source) (?:ip|host|server|address|network)\b.*\b(?:block|reject|refus|denied|banned|not (?:allowed|accepted))/,
  /\breverse (?:dns|lookup|hostname)|\brdns\b|\bptr\b|\bhelo\b|\behlo\b/,
  /\brate[- ]?limit|\btoo (?:many|much|fast)|\bthrottl|\bexceed\w* (?:the )?(?:rate|quota of messages|.*(?:per|hourly|daily))|\bdaily (?:user )?sending\b/,
  /\bgr[ea]y-?list|\btempora(?:ry|rily)|\btry (?:again|later)|\bservice (?:is )?(?:currently )?(?:unavailable|not available)|\bbusy\b/,
].map(({ source }) => source).join('|'), 'i');
/** RFC 7372 and RFC 3463: reverse DNS, and servers that are busy or refuse the connection. */
const ENHANCED_BLAMES_US = /^5\.(?:7\.25|3\.2|4\.5|4\.[27]|7\.[18]0?4)$/;

const UNKNOWN_RECIPIENT = new RegExp([
  /\bno such (?:user|mailbox|recipient|person|address|account|local)|\b(?:user|recipient|mailbox|address|account|addressee)(?: \S+){0,3} (?:is |was |has been )?(?:unknown|not found|not exist|disabled|inactive|invalid|unavailable|closed|suspended|deactivated|rejected|not known|expired)/,
  /\b(?:unknown|invalid|illegal|inactive|nonexistent|non-existent|undeliverable|disabled|bad) (?:or \w+ )?(?:virtual |local )?(?:user|recipient|mailbox|address|account|destination)/,
  /\bdo(?:es)?(?: not|n't) (?:have|exist|like recipient)|\bnot a (?:valid|known) (?:user|recipient|mailbox|address)|\bno (?:mailbox|longer (?:exists?|valid|available|active|works))|\bnot (?:a )?(?:local|our) (?:user|customer)/,
  /\bnot our customer|\bnobody by that name|\buser doesn|\brecipient not (?:found|known|here)|\baddress rejected\b/,
].map(({ source }) => source).join('|'), 'i');
const RECIPIENT_CODES = /^5\.(?:1\.(?:0|1|2|3|4|6|10)|2\.1)$/;
/** A mailbox that is full today may be read tomorrow: refusing its owner for good would punish the wrong one. */
const MAILBOX_FULL = /^5\.2\.2$/;
const FULL = /\b(?:mailbox|quota|storage|disk|inbox)\b.*\b(?:full|exceed|over)|\bover ?quota\b|\binsufficient (?:disk|storage|system storage)/i;
const POLICY = /\bspam|\bpolicy|\bcontent|\bvirus|\bmalware|\bdmarc\b|\bspf\b|\bdkim\b|\bsender|\bfrom (?:address|header)|\brelay|\bdenied|\bblock|\brefus|\bprohibit|\bnot (?:allowed|permitted|authoriz)|\bunauthori[sz]|\bunsolicited|\bauthenticat|\bsize|\btoo (?:large|big|long)/i;

/**
 * What an answer of a mail server means for the recipients that it was given to. The code decides between now and later, the
 * enhanced code and then the words between a recipient that is refused and a message that is: only the first suppresses, so
 * in doubt it is the second.
 */
export function classifyReply(reply: SmtpReply): SmtpVerdict {
  const { stage, code } = reply;
  const text = cleanReply(reply.text);
  const enhanced = enhancedOf(text, code);
  const isUnreachable = code >= 400 && (stage === 'connect' || stage === 'auth' || code === 530 || code === 535 || code === 538);
  const outcome = isUnreachable ? 'deferred' : outcomeOf({ ...reply, text }, enhanced);
  const isDeferred = outcome === 'deferred';
  return {
    outcome, enhanced, isUnreachable,
    isThrottled: isDeferred && (code === 421 || code === 454 || /\brate|\bthrottl|\btoo (?:many|much|fast)/i.test(text)),
    retryAfterMs: isDeferred ? retryAfterOf(text) : null,
  };
}

/** An answer as it may be shown: without control characters, its lines joined, at most 1,024 characters. */
export function cleanReply(text: string): string {
  return text.replace(/\r?\n\d{3}[ -](?:[245]\.\d{1,3}\.\d{1,3} )?/g, ' ').replace(/[\p{Cc}\p{Cs}]+/gu, ' ').trim().slice(0, 1024);
}

/** The time that an answer asks to wait, at most a day. */
export function retryAfterOf(text: string): number | null {
  const [, count, unit] = AGAIN_IN.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return atMostADay(Number(count) * unitMs(unit));
  const [, first = '0', second = '0', third] = GREYLIST_CLOCK.exec(text) ?? [];
  const seconds = third === undefined ? Number(first) * 60 + Number(second) : Number(first) * 3600 + Number(second) * 60 + Number(third);
  return seconds > 0 ? atMostADay(seconds * 1000) : null;
}

function outcomeOf({ stage, code, text, recipients }: SmtpReply, enhanced: string | null): SmtpVerdict['outcome'] {
  if (code >= 200 && code < 400) return 'accepted';
  // 503 is about the order of commands: a connection gone wrong.
  if (code < 500 || code > 599 || code === 503) return 'deferred';
  if (BLOCKLISTS.test(text)) return 'deferred';
  if (stage === 'mail') return blamesUs(enhanced, text) ? 'deferred' : 'failed';
  if (namesRecipient(enhanced, text)) return recipients === 1 ? 'bounced' : 'failed';
  if (enhanced === null ? FULL.test(text) : MAILBOX_FULL.test(enhanced)) return 'deferred';
  if (blamesUs(enhanced, text)) return 'deferred';
  // RFC 7504: a host or a domain that takes no mail at all.
  if (stage === 'rcpt' && (code === 556 || code === 521)) return 'bounced';
  const isBareRefusal = stage === 'rcpt' && (enhanced === null || /^5\.0\.0$/.test(enhanced)) && /^55[013]$/.test(String(code)) && !POLICY.test(text);
  return isBareRefusal ? 'bounced' : 'failed';
}

function namesRecipient(enhanced: string | null, text: string): boolean {
  if (enhanced !== null && RECIPIENT_CODES.test(enhanced)) return !/^5\.1\.0$/.test(enhanced) || !POLICY.test(text);
  // Classes that are about something else than the address, whatever they say; but for 5.4.1 and 5.5.0, which big providers use for it.
  if (enhanced !== null && !/^5\.(?:0\.0|4\.1|5\.0|7\.1)$/.test(enhanced)) return false;
  return UNKNOWN_RECIPIENT.test(text) && !/\bsender\b|\bspam\b|\bblock|\bpolicy\b/i.test(text);
}

const blamesUs = (enhanced: string | null, text: string): boolean => (enhanced !== null && ENHANCED_BLAMES_US.test(enhanced)) || BLAMES_US.test(text);

function enhancedOf(text: string, code: number): string | null {
  const enhanced = ENHANCED.exec(text)?.[1] ?? null;
  // One of another class than the code is a mistake of the server's, and the code is what RFC 5321 goes by.
  return enhanced !== null && (code === 0 || enhanced.startsWith(String(Math.floor(code / 100)))) ? enhanced : null;
}

function unitMs(unit: string): number {
  if (/^s/i.test(unit)) return 1000;
  return /^m/i.test(unit) ? 60_000 : HOUR_MS;
}

const atMostADay = (ms: number): number => Math.min(ms, 24 * HOUR_MS);
