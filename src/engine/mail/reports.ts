import { Buffer } from 'node:buffer';
import { readBounceText } from './bounce-text.js';
import { recipientsOfStatus, type ReportedRecipient } from './delivery-status.js';
import { headerOf, headersOf, type MimePart, mimePartsOf, walk, walkOwn } from './mime-parts.js';

/** What came to an address that only reports go to. */
export interface MailReport {
  /**
   * `bounce`: of deliveries, also of those that are late or succeeded. `complaint`: somebody pressed "this is spam".
   * `auto-reply`: out of office, a challenge, a receipt. `other`: whatever else people and machines send.
   */
  kind: 'bounce' | 'complaint' | 'auto-reply' | 'other';
  /** Of a bounce: at most 100; none where it names nobody. */
  recipients: readonly ReportedRecipient[];
  /** Of a bounce that names nobody: what it says of whom it does not name. */
  unnamed: 'failed' | 'delayed' | null;
  /** Of a complaint: whom it came from, as far as it says so. */
  complainants: readonly string[];
  /** Of a complaint: RFC 5965's word for it, such as `abuse`. */
  complaint: string | null;
  /** By what the message that it is about can be told; all of it as it stands in the report, which anybody may have written. */
  about: {
    /** Local parts that look like our return paths. */
    returnPaths: readonly string[];
    /** Message-IDs without angle brackets, and envelope ids (RFC 3461). */
    messageIds: readonly string[];
    /** The `b=` of DKIM signatures, without white space. */
    signatures: readonly string[];
  };
}

const STATUS_TYPES: ReadonlySet<string> = new Set(['message/delivery-status', 'message/global-delivery-status']);
const IDENTITIES_MAX = 20;
const SCANNED_CHARS_MAX = 262_144;

/** RFC 5965, RFC 6591 and RFC 6650: those that are no complaints of a reader's. */
const NO_COMPLAINT = /^(?:not-spam|auth-failure|virus)$/;
const DAEMON =
  /mailer[-_. ]?daemon|post_?master|m(?:ail)?daemon\b|mail[-_. ]?(?:delivery|administrator|system|error|service|server|router)|(?:delivery|system)[-_. ]?(?:subsystem|administrator|attendant|manager|service|system|status)|smtp[-_. ]?(?:mail|gateway|server)|\bndr@|\bimss@|\binetgw|anti-?virus|virus ?wall|undeliver|non-?deliver|\bbounces?\b|gateway@|<>|^$/i;
/** How the subjects of bounces begin; an answer to one begins with Re:. */
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
 * Reads a report: RFC 3464, RFC 5965, RFC 3798 and RFC 6522 where it follows them, else what mail systems write for people.
 * Nothing in it is trusted, and nothing is refused: what makes no sense is `other`. `isFromNobody`: it came with the null
 * sender, as reports do. For 1 MB its work is bounded, whatever is in it.
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
    read.tells !== null &&
    (isDaemon || (isFromNobody && read.isListed && (!isByMachine || (isInBulk(message) && OF_BOUNCES.test(subject)))));
  if (!isBounce) return { kind: isByMachine ? 'auto-reply' : 'other', recipients: [], unnamed: null };
  const recipients = namedBy(message, read.recipients, read.tells === 'delayed');
  return { kind: 'bounce', recipients, unnamed: recipients.length === 0 ? read.tells : null };
}

/** Exim tells its recipients in a header; what the text says of them is kept. */
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

/** RFC 5429: a script of the recipient's refuses the message, in the form of a receipt. */
function isRejection(message: MimePart): boolean {
  return (
    /\breport-type\s{0,5}=\s{0,5}"?disposition-notification/i.test(headerOf(message, 'content-type')) &&
    /reject/i.test(`${headerOf(message, 'auto-submitted')} ${headerOf(message, 'subject')}`)
  );
}

/** RFC 3834, and what was there before it. A subject is not enough: everybody may write one. */
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

/** Some bounces say so too, of themselves. */
function isInBulk(message: MimePart): boolean {
  return /^(?:bulk|junk|list)\b/i.test(headerOf(message, 'precedence'));
}

function complaintOf(parts: readonly MimePart[]): { type: string | null; complainants: string[] } | null {
  const report = parts.find(({ type }) => type === 'message/feedback-report');
  // Hotmail's older form: the message alone, with whose it was.
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
  values.slice(0, 100).flatMap((value) => /[^\s<>()[\]"',;:]{1,200}@[^\s<>()[\]"',;:]{1,253}/.exec(value)?.[0] ?? []);

/** What people read: the first text there is, HTML without its tags. */
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

/** RFC 2047, as far as it takes to read a subject. */
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
