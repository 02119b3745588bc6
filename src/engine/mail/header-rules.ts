import type { HeaderFault } from '../headers.js';

export const HEADERS_MAX = 64;
export const HEADERS_RULE = `A message has at most ${HEADERS_MAX} custom headers.`;
const NAME_BYTES_MAX = 76;
const VALUE_BYTES_MAX = 4096;
const TOTAL_BYTES_MAX = 32 * 1024;
/**
 * Maximum length of text without a space. Such text cannot be folded, and must fit into a line of 998 bytes (RFC 5322,
 * 2.1.1).
 */
const WORD_BYTES_MAX = 900;

/** Field names of RFC 5322, limited to the characters used in practice. */
const FIELD_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** Headers that an email has a field for. */
const FIELDS: Readonly<Record<string, string>> = {
  from: 'from',
  to: 'to',
  cc: 'cc',
  bcc: 'bcc',
  'reply-to': 'reply_to',
  subject: 'subject',
};

const INSTRUCTIONS = ['x-smtpapi', 'x-msys-api', 'x-postal-tag'] as const;

const FORBIDDEN_NAMES: ReadonlySet<string> = new Set<string>([
  // Address headers, from which some clients and servers read recipients.
  'from',
  'sender',
  'to',
  'cc',
  'bcc',
  'reply-to',
  'apparently-to',
  'delivered-to',
  'envelope-to',
  'x-original-to',
  'errors-to',
  'return-path',
  'return-receipt-to',
  'disposition-notification-to',
  // Headers that have separate fields in the API or are set by the service.
  'subject',
  'date',
  'message-id',
  'mime-version',
  'otp-token',
  // Headers that authenticate the message or trace its route.
  'dkim-signature',
  'domainkey-signature',
  'authentication-results',
  'received',
  'received-spf',
  'x-google-dkim-signature',
  // Headers that some relays treat as instructions: recipients, accounts, tracking.
  ...INSTRUCTIONS,
]);

/** Prefixes of Posthorn's own headers, and of headers that relays treat as instructions. */
const INSTRUCTION_PREFIXES = ['x-posthorn-', 'x-ses-', 'x-mailgun-', 'x-mc-', 'x-mj-', 'x-pm-'] as const;

const FORBIDDEN_PREFIXES = [
  // Prefixes of headers that frame the message, such as Content-Type.
  'content-',
  'resent-',
  'arc-',
  ...INSTRUCTION_PREFIXES,
] as const;

/** Headers that programs parse, without decoding encoded words. */
const STRUCTURED = /^(?:in-reply-to|references|list-.+|auto-submitted|precedence|feedback-id|importance|priority)$/;
const VISIBLE_ASCII = /^[\t\x20-\x7e]*$/;

/** The only value that RFC 8058, section 3.1, allows for `List-Unsubscribe-Post`. */
const ONE_CLICK = 'List-Unsubscribe=One-Click';

export const MAIL_HEADERS_RULE =
  `At most ${HEADERS_MAX} headers, of ${VALUE_BYTES_MAX / 1024} KB each and ${TOTAL_BYTES_MAX / 1024} KB together, without line breaks and control characters. ` +
  `Refused with 422: ${[...FORBIDDEN_NAMES].map((name) => `\`${name}\``).join(', ')}, and names that begin with ` +
  `${FORBIDDEN_PREFIXES.map((prefix) => `\`${prefix}\``).join(', ')}. \`List-Unsubscribe\` and \`List-Unsubscribe-Post\` are accepted and signed.`;

/**
 * Returns every fault of a caller's headers, which are rejected rather than silently changed. Callers cannot set
 * headers that address, authenticate or frame the message, because they could bypass the recipient checks.
 */
export function mailHeaderFaults(headers: Readonly<Record<string, string>>): HeaderFault[] {
  if (Object.keys(headers).length > HEADERS_MAX) return [{ path: 'headers', message: HEADERS_RULE }];
  const entries = Object.entries(headers);
  const faults: HeaderFault[] = [];
  const values = new Map<string, string>();
  let totalBytes = 0;
  for (const [name, value] of entries) {
    const lowerName = name.toLowerCase();
    const message =
      nameFault(name, lowerName) ??
      (values.has(lowerName) ? 'The same name occurs twice.' : valueFault(lowerName, value));
    if (message !== null) faults.push({ path: `headers.${name}`, message });
    values.set(lowerName, value);
    totalBytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (totalBytes > TOTAL_BYTES_MAX) {
    faults.push({ path: 'headers', message: `All names and values together have at most ${TOTAL_BYTES_MAX} bytes.` });
  }
  return [...faults, ...unsubscribeFaults(entries, values)];
}

/** Returns whether a header is one of Posthorn's own or an instruction to a relay. `lowerName` is in lower case. */
export function isRelayInstruction(lowerName: string): boolean {
  return (
    INSTRUCTIONS.some((name) => name === lowerName) ||
    INSTRUCTION_PREFIXES.some((prefix) => lowerName.startsWith(prefix))
  );
}

function nameFault(name: string, lowerName: string): string | null {
  if (!FIELD_NAME.test(name) || name.length > NAME_BYTES_MAX) {
    return `A header name consists of letters, digits, "-" and "_", and has at most ${NAME_BYTES_MAX} of them.`;
  }
  const isForbidden =
    FORBIDDEN_NAMES.has(lowerName) || FORBIDDEN_PREFIXES.some((prefix) => lowerName.startsWith(prefix));
  if (!isForbidden) return null;
  const field = FIELDS[lowerName];
  return `This header addresses, authenticates or frames the message, or instructs a relay, and can't be set.${field === undefined ? '' : ` Use the field ${field} instead.`}`;
}

function valueFault(lowerName: string, value: string): string | null {
  if (CONTROL.test(value.replaceAll('\t', ' '))) return 'A header value has no line breaks and no control characters.';
  if (STRUCTURED.test(lowerName) && !VISIBLE_ASCII.test(value))
    return 'The value of this header consists of ASCII characters.';
  if (value.trim() === '') return 'A header value is not empty.';
  if (Buffer.byteLength(value) > VALUE_BYTES_MAX) return `A header value has at most ${VALUE_BYTES_MAX} bytes.`;
  // nodemailer removes spaces inside the angle brackets of References, so a line cannot be folded there.
  const folded = lowerName === 'references' ? value.replace(/<[^<>]*>/g, (id) => id.replace(/[\t ]/g, '')) : value;
  const isFoldable = folded.split(/[\t ]/).every((word) => Buffer.byteLength(word) <= WORD_BYTES_MAX);
  return isFoldable
    ? null
    : `A header value has a space at least every ${WORD_BYTES_MAX} bytes, where its line can be folded.`;
}

/**
 * Returns the faults of one-click unsubscribe, which needs `List-Unsubscribe` with a URL and `List-Unsubscribe-Post`
 * (RFC 8058, section 3.1).
 */
function unsubscribeFaults(entries: readonly [string, string][], values: ReadonlyMap<string, string>): HeaderFault[] {
  const post = entries.find(([name]) => name.toLowerCase() === 'list-unsubscribe-post');
  if (post === undefined) return [];
  const path = `headers.${post[0]}`;
  if (post[1].trim() !== ONE_CLICK)
    return [{ path, message: `The only value of this header is "${ONE_CLICK}" (RFC 8058).` }];
  if (/<https:\/\/[^<>\s]+>/i.test(values.get('list-unsubscribe') ?? '')) return [];
  return [
    {
      path,
      message:
        'This header goes with a List-Unsubscribe header, which names an https URL in angle brackets (RFC 8058).',
    },
  ];
}
