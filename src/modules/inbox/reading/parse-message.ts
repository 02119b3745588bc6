import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { cleanLine, cleanText, safeFilename } from '#engine/mail/clean-text.js';
import { mailDocument } from '#engine/mail/mail-document.js';
import type { AttachmentNote, HeaderLine, ParsedMessage } from './parsed-message.js';

const BODY_BYTES_MAX = 1024 * 1024;
const LINE_BYTES_MAX = 16 * 1024;
const HEADERS_BYTES_MAX = 256 * 1024;
const HEADERS_MAX = 1_000;
const ADDRESSES_MAX = 1_000;
const ADDRESS_BYTES_MAX = 1_024;
const ATTACHMENTS_MAX = 1_000;
const REFERENCES_MAX = 100;
const SUBJECT_BYTES_MAX = 4_096;
/** Maximum number of lines. The parser creates an object for each line. A 25 MB attachment has 330,000 lines. */
const LINES_MAX = 400_000;

/** Throws the parser's errors. A malicious message exceeds the limits of either the parser or the thread. */
export async function parseMessage(raw: Buffer): Promise<ParsedMessage> {
  const email = await parsed(raw);
  const cutter = new Cutter();
  const html = email.html === undefined ? null : cutter.text(email.html);
  const text = email.text === undefined ? null : cutter.text(email.text);
  return {
    from: cutter.line(shownList(email.from ? [email.from] : []).join(', '), ADDRESS_BYTES_MAX),
    to: cutter.addresses(email.to),
    cc: cutter.addresses(email.cc),
    replyTo: cutter.addresses(email.replyTo),
    subject: cutter.line(email.subject ?? '', SUBJECT_BYTES_MAX),
    inReplyTo: email.inReplyTo === undefined ? null : cutter.line(email.inReplyTo, ADDRESS_BYTES_MAX),
    references: cutter.list(
      (email.references ?? '').split(/\s+/).filter((reference) => reference !== ''),
      REFERENCES_MAX,
    ),
    date: dateOf(email.date),
    text,
    html,
    headerLines: headersOf(email, cutter),
    attachments: cutter.few(email.attachments, ATTACHMENTS_MAX).map(noteOf),
    isTruncated: cutter.hasCut,
    parseError: null,
  };
}

/** Returns null if there is no attachment at this index. */
export async function attachmentOf(
  raw: Buffer,
  index: number,
): Promise<{ note: AttachmentNote; content: Uint8Array } | null> {
  const attachment = (await parsed(raw)).attachments[index];
  return attachment === undefined ? null : { note: noteOf(attachment, index), content: contentOf(attachment) };
}

/** Returns the HTML as a document with embedded images, in UTF-8, or null if the message has no HTML. */
export async function documentOf(raw: Buffer): Promise<Uint8Array | null> {
  const { html, attachments } = await parsed(raw);
  if (html === undefined) return null;
  const files = attachments.slice(0, ATTACHMENTS_MAX).map((file, index) => ({ file, note: noteOf(file, index) }));
  const inline = files.map(({ file, note }) => ({
    contentId: note.content_id ?? '',
    type: note.content_type,
    content: contentOf(file),
  }));
  return Buffer.from(mailDocument(cleanText(html, BODY_BYTES_MAX).text, inline));
}

/** Parses a message. Rejects if it has too many lines. */
function parsed(raw: Buffer): Promise<Email> {
  let lines = 0;
  for (let at = raw.indexOf(10); at >= 0; at = raw.indexOf(10, at + 1)) lines += 1;
  if (lines > LINES_MAX) return Promise.reject(new Error(`It has more than ${LINES_MAX} lines.`));
  // A nested message is treated as an attachment, because its contents belong to another conversation.
  return PostalMime.parse(raw, { forceRfc822Attachments: true });
}

class Cutter {
  hasCut = false;

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

  addresses(list: readonly Address[] | undefined): string[] {
    return this.list(shownList(list ?? []), ADDRESSES_MAX);
  }
}

/** Lists addresses. Groups are replaced by their members. */
function shownList(list: readonly Address[]): string[] {
  return list
    .flatMap((entry) => (entry.group === undefined ? [entry] : entry.group))
    .map(({ name, address }) => {
      if (name === '') return address;
      const quoted = /[^\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]/u.test(name) ? `"${name.replaceAll(/["\\]/g, '\\$&')}"` : name;
      return address === '' ? quoted : `${quoted} <${address}>`;
    });
}

function headersOf(email: Email, cutter: Cutter): HeaderLine[] {
  let left = HEADERS_BYTES_MAX;
  const lines: HeaderLine[] = [];
  for (const { key, value } of cutter.few(email.headers, HEADERS_MAX)) {
    const line = {
      name: cutter.line(key, 256),
      value: cutter.line(value, Math.max(0, Math.min(LINE_BYTES_MAX, left))),
    };
    left -= line.name.length + line.value.length;
    if (left <= 0) {
      cutter.hasCut = true;
      break;
    }
    lines.push(line);
  }
  return lines;
}

/** Returns null for an invalid date. */
function dateOf(date: string | undefined): string | null {
  const ms = date === undefined ? NaN : Date.parse(date);
  return Number.isNaN(ms) || Math.abs(ms) > 253_402_300_799_999 ? null : new Date(ms).toISOString();
}

function noteOf(attachment: Attachment, index: number): AttachmentNote {
  const type = cleanLine(attachment.mimeType, 255).text.toLowerCase();
  const contentId = cleanLine((attachment.contentId ?? '').replace(/^<|>$/g, ''), 998).text;
  return {
    filename:
      safeFilename(attachment.filename ?? '') ??
      (type === 'message/rfc822' ? `message-${index}.eml` : `attachment-${index}`),
    content_type: /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(type) ? type : 'application/octet-stream',
    size_bytes: contentOf(attachment).byteLength,
    content_id: contentId === '' ? null : contentId,
  };
}

function contentOf({ content }: Attachment): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}
