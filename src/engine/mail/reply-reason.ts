/**
 * Cause of a rejection. `recipient`: the address does not exist or permanently accepts no mail. `full`: the mailbox is
 * full. `sender`: the sender's address or domain. `source`: the IP address, its name or its reputation. `rate`: too
 * much mail at once, or a temporary refusal.
 */
export type ReplyReason = 'recipient' | 'full' | 'sender' | 'source' | 'rate';

/*
 * The patterns come from the lists that providers publish, and from the two collections that quote them (Sisimai,
 * smtp.codes): Google "Gmail SMTP errors and codes", Microsoft "NDR error codes in Exchange Online", Yahoo "SMTP error
 * codes" (AOL too), Tencent QQ "退信代码" (service.mail.qq.com/detail/122), Comcast "Understand email error messages",
 * postmaster.t-online.de, and the sources of Exim and Postfix.
 */
const either = (...patterns: RegExp[]): RegExp => new RegExp(patterns.map(({ source }) => source).join('|'), 'i');

/**
 * Patterns of rate limits. Checked before codes, because Gmail sends 5.2.1 (disabled mailbox) if a mailbox gets too
 * much mail.
 */
const RATE = either(
  /\b(?:rate|frequency)[- ]?limit|\brate of\b.{0,30}\bmail\b|\breceiving (?:e-?mails?|messages) (?:too quickly|at a)|\bat a rate that\b/,
  /\btoo (?:many|much|fast|quickly|frequent|often)\b(?! (?:hops|received))|\bthrottl|\bconcurrent\b|\bthread limit\b/,
  /\b(?:hourly|daily|sending|outgoing|outbound|connections?|sessions?|messages? rate|submission)\b.{0,30}\b(?:limit|quota)|\bexceed\w*\b.{0,60}\b(?:rate|threshold|per (?:second|minute|hour|day|connection)|hourly|daily|connections)\b/,
  /\bgr[ea]y-?list|\btempora(?:ry|rily)\b|\b(?:try|retry|resend|send)\b.{0,40}\b(?:later|at a later time)\b|\bcome back later\b|\bbe lifted shortly\b/,
  // QQ's text if the recipient gets too much mail in a short time.
  /\bmailbox unavailable or access deni(?:ed|ned)\b/,
  /频率|頻率|稍后(?:再试|重试)|稍後(?:再試|重試)/,
  // Comcast's codes for rate limits.
  /\bRL0\d{5}\b/,
);

const BLOCKLISTS =
  /\bspamhaus|\bspamcop|\bbarracuda|\bsorbs\b|\buceprotect|\binvaluement|\bdnsbl|\brbl\b|\bblock[- ]?list|\bblack[- ]?list|\bdeny[- ]?list|\bblocked using\b/i;
const SOURCE = either(
  /\bbanned send(?:er|ing)\b|\bbad reputation\b|\blow reputation of the sending\b|\bip=[\d.:a-f]+ - |\bsuspected (?:spam ip|bounce attack)|\bnot accepted from (?:this )?ip\b/,
  /\b(?:connections?|messages|mail|traffic)\b.{0,20}\bnot (?:be )?accepted from\b|\bmessages from \S+ (?:weren't sent|will be permanently deferred)|\bconnection denied\b|\bip\b.{0,60}\bnot authorized to send\b/,
  // Comcast's codes for a blocked source.
  /\b(?:BL|ES|DN)0\d{5}\b/,
);
/**
 * Codes whose cause is the source. Exchange Online blocks the IP address (5.7.511, 5.7.606-649, 5.7.708), the content
 * (5.7.506), the address family (5.7.510) or a tenant (5.7.705). RFC 7372: reverse DNS (5.7.25). Google: rate (5.7.28).
 */
const SOURCE_CODES = /^5\.7\.(?:25|28|50[67]|51[013]|6(?:0[6-9]|[1-4]\d)|70[58])$/;

/** Patterns of replies that reject the sender, also because a sender callout (for example by Exim) failed. */
const SENDER = either(
  /\bverification failed for\b|\bsender verif|\b(?:sender|callout|callback) verif\w*|\b(?:callout|callback)\b.{0,20}\b(?:fail|verif)|\bverif\w*\b.{0,30}\b(?:sender|return[- ]path)/,
  /\bsender(?:'s)?(?: e?-?mail)?(?: address| domain)?(?: \S+){0,3} (?:rejected|refused|denied|unknown|invalid|blocked|does not|doesn't|not (?:found|exist|allowed|valid|authoriz\w*|verified))/,
  /\b(?:invalid|unknown|bad|unverified|unauthenticated|suspected|suspected spam|unresolvable|unroutable) (?:envelope )?(?:sender|return[- ]path|reverse[- ]path|from address|mail from)/,
  /\b(?:return[- ]path|reverse[- ]path|return address|from (?:address|domain)|mail from)\b.{0,60}\b(?:not|invalid|reject\w*|refus\w*|fail\w*|unresolvable|unknown)\b/,
);
/** Pattern of a sender verification that the server could not complete, so that the sender may be valid. */
const SENDER_UNKNOWN_YET = /\bcould not complete (?:sender|recipient) verif/i;
const SENDER_CODES = /^5\.(?:1\.[789]|7\.(?:2[0-4679]|30|509))$/;

const FULL = either(
  /\b(?:mail ?box|mail ?folder|quota|storage|disk|inbox)\b.{0,60}\b(?:full|exceed\w*|over)\b|\bover ?quota\b|\binsufficient (?:disk|storage|system storage)|\bout of storage\b/,
  /\b(?:over|exceed\w*|full|violation)\b.{0,40}\b(?:quota|storage|disk)|\btoo much mail\b|\bspace not enough\b/,
);
/** Code of a full mailbox. It may accept mail again later, so the address must not be suppressed. */
const FULL_CODES = /^5\.2\.2$/;

const UNKNOWN_RECIPIENT = either(
  /\bno such (?:user|mailbox|recipient|person|address|account|local)|\b(?:user|recipient|mailbox|address|account|addressee)(?: \S+){0,3} (?:is |was |has been )?(?:unknown|not found|not exist|disabled|inactive|invalid|unavailable|closed|suspended|deactivated|rejected|not known|expired)/,
  /\b(?:unknown|invalid|illegal|inactive|nonexistent|non-existent|undeliverable|disabled|deactivated|bad|unrouteable|unroutable) (?:or \w+ )?(?:virtual |local )?(?:user|recipient|mailbox|address|account|destination)/,
  /\bdo(?:es)?(?: not|n't) (?:have|exist|like recipient)|\bnot a (?:valid|known) (?:user|recipient|mailbox|address)|\bno (?:mailbox|longer (?:exists?|valid|available|active|works))|\b(?:not (?:a )?|user not )(?:local|our (?:user|customer))/,
  /\bnot our customer|\bnobody by that name|\buser doesn|\brecipient not (?:found|known|here)|\baddress rejected\b|\brecipientnotfound\b/,
  /\bnot listed in\b.{0,40}\b(?:directory|address book)|\bnot listed in (?:public )?(?:domino|name)|\b(?:n['’]existe pas|existiert nicht|no existe|non esiste|não existe|bestaat niet|unbekannte[rn]? (?:empf|benutzer))/,
  /\bdestinataire inconnu|не (?:существует|найден)|неизвестный|不存在|存在しません|見つかりません|宛先不明/,
);
const RECIPIENT_CODES = /^5\.(?:1\.(?:0|1|2|3|4|6|10)|2\.1)$/;
/** Words that indicate a problem with the message, its sender or a policy instead of the recipient. */
const NOT_OF_RECIPIENT = /\bsender\b|\bspam|\bblock|\bpolicy\b|\bvirus|\bcontent\b/i;
const POLICY =
  /\bspam|\bpolicy|\bcontent|\bvirus|\bmalware|\bdmarc\b|\bspf\b|\bdkim\b|\bsender|\bfrom (?:address|header)|\brelay|\bdenied|\bblock|\brefus|\bprohibit|\bnot (?:allowed|permitted|authoriz)|\bunauthori[sz]|\bunsolicited|\bauthenticat|\bsize|\btoo (?:large|big|long)/i;

/**
 * Patterns that usually mean that the source of the message was rejected. Checked last, because rejections for other
 * reasons may match them, too.
 */
const PROBABLY_SOURCE = either(
  /(?<!\bnot )\blisted (?:at|on|in|by)\b|\b(?:poor|low) (?:ip |sender |sending )?reputation|\breputation of\b/,
  /\b(?:your|this|client|connecting|sending|source) (?:ip|host|server|address|network)\b.{0,200}\b(?:block|reject|refus|denied|banned|not (?:allowed|accepted))/,
  /\breverse (?:dns|lookup|hostname)|\brdns\b|\bptr\b|\bhelo\b|\behlo\b/,
);
const PROBABLY_RATE = either(
  /\bexceed\w* (?:the )?(?:rate|quota of messages|.{0,200}(?:per|hourly|daily))|\bdaily (?:user )?sending\b/,
  /\btry (?:again|later)|\bservice (?:is )?(?:currently )?(?:unavailable|not available)|\bbusy\b/,
);
/** Codes of RFC 3463 for busy servers, refused connections and expired delivery times. */
const PROBABLY_SOURCE_CODES = /^5\.(?:3\.2|4\.5|4\.[27]|7\.[18]0?4)$/;

/**
 * Returns the cause of a rejection. Null for other causes, such as the message or a policy. Only `recipient` suppresses
 * an address, so doubtful cases get another cause. Accepts server replies, reports (RFC 3464) and provider
 * notifications.
 */
export function reasonOf(enhanced: string | null, text: string): ReplyReason | null {
  const isCode = (codes: RegExp): boolean => enhanced !== null && codes.test(enhanced);
  if (SENDER_UNKNOWN_YET.test(text)) return 'rate';
  if (BLOCKLISTS.test(text) || SOURCE.test(text) || isCode(SOURCE_CODES)) return 'source';
  if (SENDER.test(text) || isCode(SENDER_CODES)) return RATE.test(text) ? 'rate' : 'sender';
  if (isCode(FULL_CODES)) return 'full';
  if (RATE.test(text)) return 'rate';
  if (namesRecipient(enhanced, text)) return 'recipient';
  if ((enhanced === null || /\.0\.0$/.test(enhanced)) && FULL.test(text)) return 'full';
  if (PROBABLY_SOURCE.test(text) || isCode(PROBABLY_SOURCE_CODES)) return 'source';
  return PROBABLY_RATE.test(text) ? 'rate' : null;
}

function namesRecipient(enhanced: string | null, text: string): boolean {
  if (enhanced !== null && RECIPIENT_CODES.test(enhanced)) return enhanced !== '5.1.0' || !POLICY.test(text);
  // With any other code, a text about an unknown address is not conclusive. Large providers use 5.4.1 and 5.5.0 for
  // unknown addresses.
  if (enhanced !== null && !/^5\.(?:0\.0|4\.1|5\.0|7\.1)$/.test(enhanced)) return false;
  return UNKNOWN_RECIPIENT.test(text) && !NOT_OF_RECIPIENT.test(text) && !FULL.test(text);
}
