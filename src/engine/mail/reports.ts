import { Buffer } from 'node:buffer';
import { readBounceText } from './bounce-text.js';
import { addressIn, recipientsOfStatus, type ReportedRecipient } from './delivery-status.js';
import { headerOf, headersOf, type MimePart, mimePartsOf, walk, walkOwn } from './mime-parts.js';

export interface MailReport {
  /**
   * `bounce`: a delivery report, even if it reports a delay or a successful delivery. `complaint`: a recipient reported
   * the message as spam. `auto-reply`: an automatic reply, a read receipt or bulk mail.
   */
  kind: 'bounce' | 'complaint' | 'auto-reply' | 'other';
  /** For a bounce: the recipients that it names, at most 100. May be empty. */
  recipients: readonly ReportedRecipient[];
  /** For a bounce without named recipients: whether the message failed or is delayed. Null if unknown. */
  unnamed: 'failed' | 'delayed' | null;
  /** For a complaint: the addresses of the recipients who complained, if the complaint names them. */
  complainants: readonly string[];
  /** For a complaint: its feedback type (RFC 5965), such as `abuse`. */
  complaint: string | null;
  /** Identifiers of the reported message. They are untrusted, because anyone can send a report. */
  about: {
    /** Local parts of addresses in the report that look like Posthorn's return paths. */
    returnPaths: readonly string[];
    /** Message-IDs without angle brackets, and envelope ids (RFC 3461). */
    messageIds: readonly string[];
    /** Values of the `b=` tag of DKIM signatures, without white space. */
    signatures: readonly string[];
  };
}

const STATUS_TYPES: ReadonlySet<string> = new Set(['message/delivery-status', 'message/global-delivery-status']);
const IDENTITIES_MAX = 20;
const SCANNED_CHARS_MAX = 262_144;

/** Feedback types of RFC 5965, RFC 6591 and RFC 6650 that do not mean a complaint by a reader. */
const NO_COMPLAINT = /^(?:not-spam|auth-failure|virus)$/;
const DAEMON =
  /mailer[-_. ]?daemon|post_?master|m(?:ail)?daemon\b|mail[-_. ]?(?:delivery|administrator|system|error|service|server|router)|(?:delivery|system)[-_. ]?(?:subsystem|administrator|attendant|manager|service|system|status)|smtp[-_. ]?(?:mail|gateway|server)|\bndr@|\bimss@|\binetgw|anti-?virus|virus ?wall|undeliver|non-?deliver|\bbounces?\b|gateway@|<>|^$/i;
/** Pattern of the start of a bounce's subject. A reply to a bounce starts with `Re:` and does not match. */
const OF_BOUNCES =
  /^(?:\[[^\]]{1,40}\] ?)?(?:non[- ]?delivery|undeliver|returned mail|failure notice|delivery (?:status|failure|report)|(?:mail|message|email) (?:delivery|could not|system error))/i;
const REPLIES_BY_THEMSELVES = [
  'x-autoreply',
  'x-autorespond',
  'x-autoresponse',
  'x-auto-reply-from',
  'x-mail-autoreply',
  'x-autoreply-from',
  'x-autoresponder',
  'x-vacation',
  'x-away',
  'vacation',
];

/**
 * Parses reports of RFC 3464, 5965, 3798 and 6522, and common human-readable texts, in bounded time. Rejects no
 * message: a message in an unknown format is `other`. Treat every part of a report as untrusted. `isFromNobody`: the
 * envelope sender is the null sender, which reports use.
 */
export function readReport(raw: Buffer, isFromNobody: boolean): MailReport {
  const message = mimePartsOf(raw);
  const parts = [...walk(message)];
  const about = identitiesOf(parts);
  const nothing = { recipients: [], unnamed: null, complainants: [], complaint: null, about };
  const complaint = complaintOf(parts);
  if (complaint !== null)
    return complaint.type === null
      ? { ...nothing, kind: 'other' }
      : { ...nothing, kind: 'complaint', complaint: complaint.type, complainants: complaint.complainants };
  const stated = parts.filter(({ type }) => STATUS_TYPES.has(type)).flatMap(({ text }) => recipientsOfStatus(text));
  if (stated.length > 0) return { ...nothing, kind: 'bounce', recipients: stated };
  return { ...nothing, ...byText(message, parts, isFromNobody) };
}

function byText(
  message: MimePart,
  parts: readonly MimePart[],
  isFromNobody: boolean,
): Pick<MailReport, 'kind' | 'recipients' | 'unnamed'> {
  const from = headerOf(message, 'from');
  const subject = wordsOf(headerOf(message, 'subject'));
  const text = plainOf([...walkOwn(message)]);
  if (/^(?:final|original)-recipient:/im.test(text.slice(0, SCANNED_CHARS_MAX))) {
    const stated = recipientsOfStatus(text);
    if (stated.length > 0) return { kind: 'bounce', recipients: stated, unnamed: null };
  }
  const isByMachine = repliesByItself(message) || isInBulk(message);
  const isDaemon =
    DAEMON.test(from) ||
    headerOf(message, 'x-failed-recipients') !== '' ||
    parts.some(({ type }) => STATUS_TYPES.has(type)) ||
    isRejection(message);
  const read = readBounceText(subject, text, /@([A-Za-z0-9.-]{1,253})/.exec(from)?.[1] ?? '');
  const isBounce =
    read.outcome !== null &&
    (isDaemon || (isFromNobody && read.isListed && (!isByMachine || (isInBulk(message) && OF_BOUNCES.test(subject)))));
  if (!isBounce) return { kind: isByMachine ? 'auto-reply' : 'other', recipients: [], unnamed: null };
  const recipients = namedBy(message, read.recipients, read.outcome === 'delayed');
  return { kind: 'bounce', recipients, unnamed: recipients.length === 0 ? read.outcome : null };
}

function namedBy(
  message: MimePart,
  found: readonly ReportedRecipient[],
  isDelayed: boolean,
): readonly ReportedRecipient[] {
  const named = headerOf(message, 'x-failed-recipients')
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address.includes('@'))
    .slice(0, 100);
  if (named.length === 0) return found;
  return named.map(
    (address) =>
      found.find(({ addresses }) => addresses[0]?.toLowerCase() === address.toLowerCase()) ?? {
        addresses: [address],
        outcome: isDelayed ? 'delayed' : 'failed',
        status: null,
        isPermanent: false,
        detail: null,
      },
  );
}

/**
 * Returns whether the message is a rejection by a recipient's filter script, which has the form of a receipt (RFC
 * 5429).
 */
function isRejection(message: MimePart): boolean {
  return (
    /\breport-type\s{0,5}=\s{0,5}"?disposition-notification/i.test(headerOf(message, 'content-type')) &&
    /reject/i.test(`${headerOf(message, 'auto-submitted')} ${headerOf(message, 'subject')}`)
  );
}

/**
 * Returns whether a message is an automatic reply (RFC 3834, older conventions). The subject alone is not sufficient.
 */
function repliesByItself(message: MimePart): boolean {
  const submitted = headerOf(message, 'auto-submitted');
  if (submitted !== '' && !/^no\b/i.test(submitted)) return true;
  if (/auto[-_]?reply/i.test(`${headerOf(message, 'precedence')} ${headerOf(message, 'x-precedence')}`)) return true;
  if (/disposition-notification/i.test(headerOf(message, 'content-type'))) return true;
  if (/autoresponder/i.test(`${headerOf(message, 'delivered-to')} ${headerOf(message, 'x-post-messageclass')}`))
    return true;
  return (
    REPLIES_BY_THEMSELVES.some((name) => headerOf(message, name) !== '') ||
    headerOf(message, 'x-auto-response-suppress') !== ''
  );
}

/**
 * Returns whether the `Precedence` header marks a message as bulk mail. Some bounces have this header, too, so it does
 * not exclude a bounce.
 */
function isInBulk(message: MimePart): boolean {
  return /^(?:bulk|junk|list)\b/i.test(headerOf(message, 'precedence'));
}

function complaintOf(parts: readonly MimePart[]): { type: string | null; complainants: string[] } | null {
  const report = parts.find(({ type }) => type === 'message/feedback-report');
  // A complaint in Hotmail's older format contains only the reported message. A header names the recipient who
  // complained.
  const hotmail = parts.map((part) => headerOf(part, 'x-hmxmroriginalrecipient')).find((address) => address !== '');
  if (report === undefined)
    return hotmail === undefined ? null : { type: 'abuse', complainants: addressesIn([hotmail]) };
  const fields = headersOf(report.text.replace(/^\s+/, '')).headers;
  const type = headerOf({ headers: fields }, 'feedback-type').toLowerCase();
  const named = fields
    .filter(([name]) => name === 'original-rcpt-to' || name === 'removal-recipient')
    .map(([, value]) => value);
  return { type: type === '' || NO_COMPLAINT.test(type) ? null : type.slice(0, 40), complainants: addressesIn(named) };
}

const addressesIn = (values: readonly string[]): string[] =>
  values.slice(0, 100).flatMap((value) => addressIn(value) ?? []);

/** Returns the first text part. If it is HTML, removes the tags. */
function plainOf(parts: readonly MimePart[]): string {
  const leaf =
    parts.find(({ type, text }) => type === 'text/plain' && text.trim() !== '') ??
    parts.find(({ type, text }) => type.startsWith('text/') && text.trim() !== '');
  if (leaf === undefined) return '';
  const text = leaf.text.slice(0, SCANNED_CHARS_MAX);
  if (leaf.type !== 'text/html') return text;
  return text
    .replace(/<(?:br|p|div|tr|li)\b[^<>]*>/gi, '\n')
    .replace(/<mailto:([^<>]*)>/gi, ' $1 ')
    .replace(/<[^<>@]*>/g, '')
    .replace(/<[^<>\s]*\s[^<>]*>/g, '')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#64;', '@');
}

/** Decodes encoded words (RFC 2047) well enough to read a subject. */
function wordsOf(value: string): string {
  return value
    .slice(0, 2_000)
    .replace(
      /=\?([\w-]{1,40})\?([bq])\?([^?\s]{0,500})\?=\s?/gi,
      (_, charset: string, encoding: string, word: string) => {
        const coded = encoding.toLowerCase() === 'b' ? 'base64' : 'quoted-printable';
        const raw = `Content-Type: text/plain; charset=${charset}\nContent-Transfer-Encoding: ${coded}\n\n${coded === 'base64' ? word : word.replaceAll('_', ' ')}`;
        return mimePartsOf(Buffer.from(raw, 'latin1')).text;
      },
    );
}

function identitiesOf(parts: readonly MimePart[]): MailReport['about'] {
  const text = parts
    .map(
      (part) =>
        `${part.headers.map(([name, value]) => `${name}: ${value}`).join('\n')}\n${part.text.slice(0, SCANNED_CHARS_MAX)}`,
    )
    .join('\n')
    .slice(0, 2 * SCANNED_CHARS_MAX);
  const all = (pattern: RegExp): string[] =>
    [...new Set([...text.matchAll(pattern)].map(([, found]) => (found as string).replace(/\s+/g, '')))].slice(
      0,
      IDENTITIES_MAX,
    );
  return {
    returnPaths: all(/\b(b\+(?:r[a-z2-7]{56}|[0-9a-f]{56}))(?=@)/gi),
    messageIds: [
      ...all(/message-id:\s{0,10}<([^<>\s]{1,250})>/gi),
      ...all(/original-envelope-id:\s{0,10}([^<>\s]{1,250})/gi),
    ],
    signatures: all(/\bb=((?:[A-Za-z0-9+/]{1,120}={0,2}[ \t\n>]{0,20}){1,20})/g),
  };
}
