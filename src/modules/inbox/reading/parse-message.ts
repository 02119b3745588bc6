import { type EmailAddress, parseAddressHeader } from 'mailparser';
import { mailboxesByGrammar } from '#engine/mail/address-syntax.js';
import { cleanLine, cleanText, safeFilename } from '#engine/mail/clean-text.js';
import { parseMailDate } from '#engine/mail/mail-date.js';
import { mailDocument } from '#engine/mail/mail-document.js';
import { messageIdsIn } from '#engine/mail/message-ids.js';
import { replyParts } from '#engine/mail/reply-text.js';
import { bodyOf, htmlOf, isBodyPart, type MessageBody } from './message-body.js';
import { type Branch, type Leaf, type Part, readParts } from './mime-parts.js';
import type { HeaderLine, ParsedAttachment, ParsedMessage } from './parsed-message.js';
import { PartHeaders } from './part-headers.js';
import { firstUsable } from './text-decoding.js';

const BODY_BYTES_MAX = 1024 * 1024;
/**
 * Maximum size of a text before decoding. It is larger than the maximum after decoding, because a character with one
 * byte in UTF-8 has up to four bytes in other encodings.
 */
const BODY_PART_BYTES_MAX = 4 * BODY_BYTES_MAX;
const LINE_BYTES_MAX = 16 * 1024;
const HEADERS_BYTES_MAX = 256 * 1024;
const HEADERS_MAX = 1_000;
const ADDRESSES_MAX = 1_000;
const ADDRESS_BYTES_MAX = 1_024;
const ATTACHMENTS_MAX = 1_000;
const REFERENCES_MAX = 100;
const SUBJECT_BYTES_MAX = 4_096;
/** Matches an encoded word (RFC 2047) and captures its character set. */
const WORD_CHARSET = /=\?([\w.:+-]{1,40})(?:\*[\w-]{0,40})?\?[bq]\?/gi;
const NO_BOUNDARY = 'A multipart has no boundary, or its boundary occurs nowhere. Its content is in the text.';

/**
 * Parses a message. Throws the parser's errors. A malicious message may also exceed the limits of the thread.
 *
 * `isSent` returns the text and the HTML as the sender of a composed message gave them: no text is derived from HTML, and
 * the line break that ends a message of a single part is omitted.
 */
export async function parseMessage(raw: Buffer, { isSent } = { isSent: false }): Promise<ParsedMessage> {
  const { root, lacksBoundary } = await readParts(raw, keepBodies);
  const charset = charsetOf(root);
  const whole = bodyOf(root, charset, !isSent);
  const body = isSent && root.kind === 'leaf' ? withoutLastBreak(whole) : whole;
  const headers = new PartHeaders(root.headerLines, charset);
  const cutter = new Cutter();
  const contents = {
    ...headed(headers, cutter),
    ...bodied(body, cutter),
    headerLines: headersOf(headers, cutter),
    attachments: cutter.few(filesOf(root), ATTACHMENTS_MAX).map((leaf, index) => noteOf(leaf, index, charset, cutter)),
  };
  return {
    ...contents,
    isTruncated: cutter.hasCut || body.isCut || isCut(root, null),
    isCharsetGuessed: body.isGuessed || headers.isGuessed || cutter.hasGuessed,
    parseError: lacksBoundary ? NO_BOUNDARY : null,
  };
}

type FromHeaders = 'from' | 'to' | 'cc' | 'replyTo' | 'subject' | 'inReplyTo' | 'references' | 'date';

function headed(headers: PartHeaders, cutter: Cutter): Pick<ParsedMessage, FromHeaders> {
  const inReplyTo = headers.allWords('in-reply-to').flatMap(messageIdsIn).join(' ');
  return {
    from: cutter.line(shownList(addressesIn(headers.wordsInUtf8('from')[0] ?? '')).join(', '), ADDRESS_BYTES_MAX),
    to: cutter.addresses(headers.wordsInUtf8('to').flatMap(addressesIn)),
    cc: cutter.addresses(headers.wordsInUtf8('cc').flatMap(addressesIn)),
    replyTo: cutter.addresses(headers.wordsInUtf8('reply-to').flatMap(addressesIn)),
    subject: cutter.line(headers.words('subject') ?? '', SUBJECT_BYTES_MAX),
    inReplyTo: inReplyTo === '' ? null : cutter.line(inReplyTo, ADDRESS_BYTES_MAX),
    references: cutter.thread(headers.allWords('references').flatMap(messageIdsIn)),
    date: parseMailDate(headers.first('date') ?? '')?.toISOString() ?? null,
  };
}

type FromBody = 'text' | 'html' | 'isTextFromHtml' | 'replyText' | 'signature';

function bodied(body: MessageBody, cutter: Cutter): Pick<ParsedMessage, FromBody> {
  const html = body.html === null ? null : cutter.text(body.html);
  if (body.text === null) return { text: null, html, isTextFromHtml: false, replyText: null, signature: null };
  const text = cutter.text(body.text);
  const { reply, signature } = replyParts(text);
  return {
    text,
    html,
    isTextFromHtml: body.isTextFromHtml,
    replyText: reply === text.trim() ? null : reply,
    signature,
  };
}

/** Returns the attachment at position `index`, or null if there is none. */
export async function attachmentOf(
  raw: Buffer,
  index: number,
): Promise<{ note: ParsedAttachment; content: Uint8Array } | null> {
  let files = 0;
  const { root } = await readParts(raw, (leaf, parent) =>
    isBodyPart(leaf, parent) ? 0 : files++ === index ? raw.length : 0,
  );
  const file = filesOf(root)[index];
  return file === undefined
    ? null
    : { note: noteOf(file, index, charsetOf(root)), content: file.content ?? Buffer.alloc(0) };
}

/** Returns the HTML as a document with embedded images, in UTF-8, or null if the message has no HTML. */
export async function documentOf(raw: Buffer): Promise<Uint8Array | null> {
  const { root } = await readParts(raw, (leaf, parent) =>
    isBodyPart(leaf, parent) ? BODY_PART_BYTES_MAX : leaf.contentId === null ? 0 : raw.length,
  );
  const charset = charsetOf(root);
  const html = htmlOf(root, charset);
  if (html === null) return null;
  const files = filesOf(root).slice(0, ATTACHMENTS_MAX);
  const inline = files.map((file, index) => {
    const note = noteOf(file, index, charset);
    return { contentId: note.content_id ?? '', type: note.content_type, content: file.content ?? Buffer.alloc(0) };
  });
  return Buffer.from(mailDocument(cleanText(html, BODY_BYTES_MAX).text, inline));
}

/** Omits the last line break. In a multipart, the last line break of a part belongs to the boundary (RFC 2046). */
function withoutLastBreak({ text, html, ...rest }: MessageBody): MessageBody {
  return { ...rest, text: text && text.replace(/\n$/, ''), html: html && html.replace(/\n$/, '') };
}

const keepBodies = (leaf: Leaf, parent: Branch | null): number => (isBodyPart(leaf, parent) ? BODY_PART_BYTES_MAX : 0);

class Cutter {
  hasCut = false;
  hasGuessed = false;

  line(text: string, bytesMax = LINE_BYTES_MAX): string {
    const { text: clean, isTruncated } = cleanLine(text, bytesMax);
    this.hasCut ||= isTruncated;
    return clean;
  }

  text(text: string): string {
    const { text: clean, isTruncated } = cleanText(text, BODY_BYTES_MAX);
    this.hasCut ||= isTruncated;
    return clean;
  }

  few<T>(list: readonly T[], max: number): T[] {
    this.hasCut ||= list.length > max;
    return list.slice(0, max);
  }

  list(list: readonly string[], max: number): string[] {
    return this.few(list, max).map((text) => this.line(text, ADDRESS_BYTES_MAX));
  }

  /** Keeps the first and the newest ids of a thread. The last id is the message that was answered. */
  thread(ids: readonly string[]): string[] {
    const kept = ids.length > REFERENCES_MAX ? [ids[0]!, ...ids.slice(1 - REFERENCES_MAX)] : ids;
    this.hasCut ||= kept.length < ids.length;
    return this.list(kept, REFERENCES_MAX);
  }

  addresses(list: readonly EmailAddress[]): string[] {
    return this.list(shownList(list), ADDRESSES_MAX);
  }
}

/** Returns the addresses as text. Replaces groups by their members. Omits empty addresses, such as `<>`. */
function shownList(list: readonly EmailAddress[]): string[] {
  return list
    .flatMap((entry) => entry.group ?? [entry])
    .filter(({ name, address = '' }) => name !== '' || address !== '')
    .map(({ name, address = '' }) => {
      if (name === '') return address;
      const quoted = /[^\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]/u.test(name) ? `"${name.replaceAll(/["\\]/g, '\\$&')}"` : name;
      return address === '' ? quoted : `${quoted} <${address}>`;
    });
}

/**
 * Returns the addresses of a header. Keeps their domains as they were sent. Parses a header with invalid syntax with
 * mailparser, which is more tolerant.
 */
function addressesIn(value: string): EmailAddress[] {
  return mailboxesByGrammar(value) ?? parseAddressHeader(value, { decodePunycode: false }).value;
}

function headersOf(headers: PartHeaders, cutter: Cutter): HeaderLine[] {
  let left = HEADERS_BYTES_MAX;
  const lines: HeaderLine[] = [];
  for (const { name, value } of headers.all(HEADERS_MAX + 1)) {
    const line = {
      name: cutter.line(name, 256),
      value: cutter.line(value, Math.max(0, Math.min(LINE_BYTES_MAX, left))),
    };
    left -= line.name.length + line.value.length;
    if (left <= 0) {
      cutter.hasCut = true;
      break;
    }
    lines.push(line);
  }
  return cutter.few(lines, HEADERS_MAX);
}

/** Returns the parts that are listed as files, in their order. */
function filesOf(part: Part, parent: Branch | null = null): Leaf[] {
  if (part.kind === 'leaf') return isBodyPart(part, parent) ? [] : [part];
  return part.parts.flatMap((each) => filesOf(each, part));
}

/** Returns whether any text of the part was truncated before it was decoded. */
function isCut(part: Part, parent: Branch | null): boolean {
  if (part.kind === 'branch') return part.parts.some((each) => isCut(each, part));
  return isBodyPart(part, parent) && part.sizeBytes > BODY_PART_BYTES_MAX;
}

/** Returns the first character set that the message declares. Bytes without a declaration probably use it, too. */
function charsetOf(root: Part): string | null {
  return firstUsable(charsetsOf(root));
}

/** Iterates over the character sets of the texts, then over those of the encoded words in the headers. */
function* charsetsOf(root: Part): Iterable<string> {
  yield* textCharsetsOf(root);
  for (const { line } of root.headerLines.slice(0, HEADERS_MAX))
    for (const [, charset = ''] of line.matchAll(WORD_CHARSET)) yield charset;
}

function* textCharsetsOf(part: Part): Iterable<string> {
  if (part.kind === 'branch') for (const each of part.parts) yield* textCharsetsOf(each);
  else if (part.charset !== null) yield part.charset;
}

function noteOf(leaf: Leaf, index: number, charset: string | null, cutter?: Cutter): ParsedAttachment {
  const headers = new PartHeaders(leaf.headerLines, leaf.charset ?? charset);
  const type = cleanLine(leaf.type, 255).text.toLowerCase();
  const contentId = cleanLine((leaf.contentId ?? '').replace(/^<|>$/g, ''), 998).text;
  const filename = leaf.isNamed ? safeFilename(headers.filename() ?? '') : null;
  const disposition = leaf.disposition ?? (contentId === '' ? null : 'inline');
  if (cutter !== undefined) cutter.hasGuessed ||= headers.isGuessed;
  return {
    filename: filename ?? (type === 'message/rfc822' ? `message-${index}.eml` : `attachment-${index}`),
    content_type: /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(type) ? type : 'application/octet-stream',
    size_bytes: leaf.sizeBytes,
    content_id: contentId === '' ? null : contentId,
    content_disposition: disposition === 'inline' ? 'inline' : 'attachment',
  };
}
