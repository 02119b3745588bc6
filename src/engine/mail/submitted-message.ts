import { Buffer } from 'node:buffer';
import { mailboxesIn } from './address-list.js';
import { isRefused, type Mailbox, parseMailbox } from './addresses.js';
import { AUTHOR_CHARACTERS_MAX, unambiguousSender } from './allowed-senders.js';
import { cleanLine } from './clean-text.js';
import { decodeWords } from './encoded-words.js';
import { isRelayInstruction } from './header-rules.js';
import { lineFaultOf } from './line-faults.js';
import { HEAD_BYTES_MAX } from './message-head.js';

/** Header that names a tag of the email, as `name=value`. May occur several times. Removed before sending. */
const TAG_HEADER = 'x-tag';
/** Header with the idempotency key of the email. Removed before sending. */
const KEY_HEADER = 'x-idempotency-key';
/** Name of a tag whose header contains only a value, as in `X-Tag: welcome`. */
const TAG_NAME = 'tag';
/** Headers that request an unsubscribe link. Removed before sending. */
const UNSUBSCRIBE_HEADERS: readonly string[] = ['x-unsubscribe', 'x-unsubscribe-topic'];
const NOT_SENT: ReadonlySet<string> = new Set(['bcc', 'resent-bcc', TAG_HEADER, KEY_HEADER, ...UNSUBSCRIBE_HEADERS]);

/**
 * Header fields that may occur at most once (RFC 5322, section 3.6; RFC 2045). If a field occurs twice, servers
 * disagree about which one applies.
 */
const ONCE: ReadonlySet<string> = new Set([
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'message-id',
  'in-reply-to',
  'references',
  'subject',
  'date',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  KEY_HEADER,
  ...UNSUBSCRIBE_HEADERS,
]);

const FIELD_NAME = /^[\x21-\x39\x3b-\x7e]{1,76}$/;
const ASCII = /^[\0-\x7f]*$/;
const CONTINUED = /^[ \t]/;
const SUBJECT_BYTES_MAX = 4_096;
const MESSAGE_ID_BYTES_MAX = 998;
/**
 * Pattern of MIME boundaries that a mail library may have generated: at least four characters. Shorter boundaries are
 * treated as content.
 */
const BOUNDARY = /;\s{0,100}boundary\s?=\s?(?:"([^"\r\n]{4,70})"|([^\s;"]{4,70}))/gi;
const BOUNDARIES_MAX = 50;
const DELIMITER = '\r\n--';
/** Maximum number of lines that are compared with the boundaries. */
const DELIMITERS_MAX = 100_000;
const HEAD_END = '\r\n\r\n';
const CR = 0x0d;

export interface SubmittedField {
  /** Name in lower case. */
  name: string;
  /** The field as written, with its folding and without the last CRLF. One character per byte. */
  text: string;
}

/** A message that a mail client submitted, with the fields of its header that Posthorn reads. */
export interface SubmittedMessage {
  from: Mailbox;
  /** Address of the Sender header. Null if there is none. */
  sender: string | null;
  to: Mailbox[];
  cc: Mailbox[];
  replyTo: Mailbox[];
  subject: string;
  /** Message-ID as the client wrote it. Null if there is none. */
  messageId: string | null;
  hasDate: boolean;
  tags: { name: string; value: string }[];
  idempotencyKey: string | null;
  fields: readonly SubmittedField[];
  /** The message after its header fields. Begins with the empty line. */
  body: Buffer;
  /** The message as the client wrote it. Null if the empty line after the header was missing. */
  whole: Buffer | null;
}

/**
 * Reads a message that a mail client submitted (RFC 6409). Returns a fault, as a sentence, if servers would change the
 * message, or would read its lines, headers or sender differently.
 */
export function readSubmittedMessage(raw: Buffer): SubmittedMessage | { fault: string } {
  const lineFault = raw.includes(0) ? 'The message contains a NUL byte.' : lineFaultOf(raw);
  if (lineFault !== null) return { fault: lineFault };
  const { head, body, whole } = split(raw);
  if (head.length > HEAD_BYTES_MAX) return { fault: 'The header section is larger than 256 KB.' };
  const read = fieldsIn(head.toString('latin1'));
  if ('fault' in read) return read;
  const { fields, firsts } = read;
  const found = (name: string): string | null => {
    const field = firsts.get(name);
    return field === undefined ? null : valueIn(field);
  };
  const from = authorIn(found('from'));
  if ('fault' in from) return from;
  const sender = found('sender');
  const senderAddress = sender === null ? null : unambiguousSender(sender);
  if (sender !== null && senderAddress === null) return { fault: 'The Sender header must have exactly one address.' };
  return {
    from,
    sender: senderAddress,
    to: mailboxesIn(found('to') ?? ''),
    cc: mailboxesIn(found('cc') ?? ''),
    replyTo: mailboxesIn(found('reply-to') ?? ''),
    subject: cleanLine(decodeWords(found('subject') ?? ''), SUBJECT_BYTES_MAX).text,
    messageId: cleanLine(found('message-id') ?? '', MESSAGE_ID_BYTES_MAX).text || null,
    hasDate: (found('date') ?? '') !== '',
    tags: tagsIn(fields),
    idempotencyKey: found(KEY_HEADER),
    fields,
    body,
    whole,
  };
}

/**
 * Returns the message to sign. Adds the fields in `added`, and removes Bcc and Posthorn's control headers. Returns the
 * client's bytes without a copy if they need no change.
 */
export function writeSubmittedMessage(
  { fields, body, whole }: Pick<SubmittedMessage, 'fields' | 'body' | 'whole'>,
  added: Readonly<Record<string, string>>,
): Buffer {
  const isAdding = Object.keys(added).length > 0;
  if (whole !== null && !isAdding && !fields.some(({ name }) => NOT_SENT.has(name))) return whole;
  const replaced = new Set(Object.keys(added).map((name) => name.toLowerCase()));
  const lines = [
    ...Object.entries(added).map(([name, value]) => Buffer.from(`${name}: ${value}`).toString('latin1')),
    ...fields.filter(({ name }) => !NOT_SENT.has(name) && !replaced.has(name)).map(({ text }) => text),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1'), body]);
}

/**
 * Returns the client's own header fields, and those that request an unsubscribe link. If a name is repeated, the first
 * field is used.
 */
export function ownHeadersOf({ fields }: Pick<SubmittedMessage, 'fields'>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const field of fields)
    if (isOwn(field.name) && !Object.hasOwn(headers, field.name))
      headers[field.name] = cleanLine(decodeWords(valueIn(field)), HEAD_BYTES_MAX).text;
  return headers;
}

function isOwn(name: string): boolean {
  return UNSUBSCRIBE_HEADERS.includes(name) || (!ONCE.has(name) && !NOT_SENT.has(name) && name !== 'received');
}

/**
 * Returns the content that identifies a repeated submission. Omits the date, the Message-ID and the boundaries, which
 * mail libraries create again for each submission.
 */
export function contentOf({ fields, body }: Pick<SubmittedMessage, 'fields' | 'body'>): Buffer {
  const head = fields
    .filter(({ name }) => !['date', 'message-id', 'received', KEY_HEADER].includes(name))
    .map(({ text }) => text)
    .join('\r\n');
  const content = `${head}\r\n${body.toString('latin1')}`;
  return Buffer.from(withoutDelimiters(content.replace(BOUNDARY, ';'), boundariesIn(content)), 'latin1');
}

/** Removes the boundaries from delimiter lines (RFC 2046, section 5.1.1). Takes linear time. */
function withoutDelimiters(content: string, boundaries: ReadonlySet<string>): string {
  if (boundaries.size === 0) return content;
  const kept: string[] = [];
  let from = 0;
  let at = content.indexOf(DELIMITER);
  for (let lines = 0; at !== -1 && lines < DELIMITERS_MAX; lines += 1) {
    const start = at + DELIMITER.length;
    const end = content.indexOf('\r\n', start);
    const line = content.slice(start, end === -1 ? content.length : end).trimEnd();
    const name = boundaries.has(line) ? line : line.endsWith('--') ? line.slice(0, -2) : '';
    if (boundaries.has(name)) {
      kept.push(content.slice(from, start));
      from = start + name.length;
    }
    at = content.indexOf(DELIMITER, start);
  }
  return [...kept, content.slice(from)].join('');
}

function boundariesIn(content: string): Set<string> {
  const boundaries = new Set<string>();
  for (const [, quoted, plain] of content.matchAll(BOUNDARY)) {
    boundaries.add(quoted ?? plain ?? '');
    if (boundaries.size === BOUNDARIES_MAX) break;
  }
  return boundaries;
}

function split(raw: Buffer): { head: Buffer; body: Buffer; whole: Buffer | null } {
  if (raw[0] === CR) return { head: raw.subarray(0, 0), body: raw, whole: raw };
  const end = raw.indexOf(HEAD_END);
  if (end === -1) return { head: raw, body: Buffer.from('\r\n'), whole: null };
  return { head: raw.subarray(0, end + 2), body: raw.subarray(end + 2), whole: raw };
}

/** Returns the header fields in order, and the first field of each name. */
function fieldsIn(
  head: string,
): { fields: SubmittedField[]; firsts: ReadonlyMap<string, SubmittedField> } | { fault: string } {
  const fields: SubmittedField[] = [];
  const firsts = new Map<string, SubmittedField>();
  for (const line of head.split('\r\n').slice(0, -1)) {
    const last = fields.at(-1);
    if (CONTINUED.test(line) && line.trim() !== '' && last !== undefined) {
      last.text += `\r\n${line}`;
      continue;
    }
    const name = line.slice(0, Math.max(line.indexOf(':'), 0)).toLowerCase();
    if (!FIELD_NAME.test(name))
      return { fault: 'A line of the header section is no header field. An empty line ends the section.' };
    const isRepeated = firsts.has(name);
    if (isRepeated && ONCE.has(name)) return { fault: `The header ${name} occurs twice.` };
    if (isRelayInstruction(name))
      return { fault: `The header ${name} instructs a relay or is Posthorn's own, and can't be set.` };
    const field = { name, text: line };
    fields.push(field);
    if (!isRepeated) firsts.set(name, field);
  }
  return { fields, firsts };
}

function valueIn({ name, text }: SubmittedField): string {
  const value = text.slice(name.length + 1).replaceAll('\r\n', '');
  return (ASCII.test(value) ? value : Buffer.from(value, 'latin1').toString()).trim();
}

/**
 * Returns the author. Rejects an ambiguous From header, because the domain of the author's address must be verified.
 */
function authorIn(value: string | null): Mailbox | { fault: string } {
  if (value === null || value === '') return { fault: 'The message has no From header.' };
  // Most clients write a form that `parseMailbox` accepts, and that other parsers read in the same way. The code below
  // also merges repeated spaces in a name.
  const strict = value.length > AUTHOR_CHARACTERS_MAX ? null : parseMailbox(value, 'international');
  if (strict !== null && !isRefused(strict) && !value.includes('  ')) return strict;
  const address = unambiguousSender(value);
  if (address === null) return { fault: 'The From header must have exactly one address.' };
  const shown = mailboxesIn(value)[0];
  // Restores the case of the local part: `unambiguousSender` returns lower case.
  const isSame = shown?.address.toLowerCase() === address;
  const parsed = parseMailbox(isSame ? shown.address : address, 'international');
  if ('refusal' in parsed) return { fault: `From: ${parsed.refusal}` };
  return { name: shown?.name ?? '', address: parsed.address };
}

function tagsIn(fields: readonly SubmittedField[]): { name: string; value: string }[] {
  return fields
    .filter(({ name }) => name === TAG_HEADER)
    .flatMap((field) => valueIn(field).split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => {
      const at = text.indexOf('=');
      return at === -1
        ? { name: TAG_NAME, value: text }
        : { name: text.slice(0, at).trim(), value: text.slice(at + 1).trim() };
    });
}
