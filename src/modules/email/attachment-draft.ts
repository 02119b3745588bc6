import { bytesOfBase64, bytesOfNumbers } from '#engine/mail/attachment-bytes.js';
import type { Fault } from '#kernel/errors.js';
import { extensionOfType, typeOfFilename } from '#mail/filename-type.js';
import { type FieldNames, isRecord, named } from './draft-fields.js';

/** Maximum number of attachments of one request, and their maximum total size in bytes after decoding. */
export const ATTACHMENTS_MAX = 20;
export const ATTACHMENT_BYTES_MAX = 10 * 1024 * 1024;
const FILENAME_CHARACTERS_MAX = 255;
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
const TYPE =
  /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(?:\s*;\s*[a-z0-9_.*'-]+=(?:"[^"\\]*"|[a-z0-9!#$&^_.+*'{}|~%-]+))*$/i;
const CONTENT_ID = /^[A-Za-z0-9._%+$=-]+(?:@[A-Za-z0-9.-]+)?$/;
const IN_BRACKETS = /^<(.*)>$/;

/** Names of the request's fields, with those of Resend's packages. */
const NAMES: FieldNames = {
  known: new Set(['filename', 'content_type', 'content', 'url', 'content_id']),
  aliases: {
    contentType: 'content_type',
    contentId: 'content_id',
    inline_content_id: 'content_id',
    inlineContentId: 'content_id',
    path: 'url',
  },
  // The field `encoding` is rejected, because only base64 is supported.
  refused: new Set(['encoding']),
};

export interface AttachmentDraft {
  filename: string;
  /**
   * Media type that the caller gave, or that the extension of the file name stands for. Null if neither is known. The
   * server of the attachment's URL may then provide one.
   */
  contentType: string | null;
  contentId: string | null;
  source: { bytes: Buffer } | { url: string };
}

/** Parses attachments and collects all errors. Has no side effects. */
export function readAttachments(given: unknown): { attachments: AttachmentDraft[]; faults: Fault[] } {
  if (given === undefined) return { attachments: [], faults: [] };
  if (!Array.isArray(given)) return { attachments: [], faults: [{ path: 'attachments', message: 'must be a list' }] };
  if (given.length > ATTACHMENTS_MAX)
    return {
      attachments: [],
      faults: [{ path: 'attachments', message: `must have at most ${ATTACHMENTS_MAX} entries` }],
    };
  const faults: Fault[] = [];
  const attachments = given.flatMap((entry: unknown, i) => readAttachment(entry, `attachments.${i}.`, faults) ?? []);
  const bytes = decodedBytes(attachments);
  if (bytes > ATTACHMENT_BYTES_MAX) faults.push({ path: 'attachments', message: TOO_LARGE });
  return { attachments, faults };
}

export const TOO_LARGE = `The attachments of a request must have at most ${ATTACHMENT_BYTES_MAX / 1024 / 1024} MB in total after decoding.`;

/**
 * Returns the total size of the attachments whose bytes are in the request. Excludes attachments to fetch from URLs.
 */
export function decodedBytes(attachments: readonly AttachmentDraft[]): number {
  return attachments.reduce((sum, { source }) => sum + ('bytes' in source ? source.bytes.length : 0), 0);
}

function readAttachment(given: unknown, at: string, faults: Fault[]): AttachmentDraft | null {
  const before = faults.length;
  const fault = (name: string, message: string): null => (faults.push({ path: at + name, message }), null);
  if (!isRecord(given)) return (faults.push({ path: at.slice(0, -1), message: 'must be an object' }), null);
  const fields = named(given, NAMES, fault);
  const { filename, content_type: type, content, url } = fields;
  const contentId = withoutBrackets(fields['content_id']);
  if ((content === undefined) === (url === undefined))
    fault('content', 'An attachment needs either content (base64) or url (https).');
  // Resend's packages type the file name as `string | false | undefined`.
  const name = filename === undefined || filename === false ? derivedName(url, type, contentId) : filename;
  if (!isFilename(name)) {
    fault(
      'filename',
      `must have 1 to ${FILENAME_CHARACTERS_MAX} characters, no "/" and "\\", and no control characters`,
    );
  }
  if (type !== undefined && !(typeof type === 'string' && type.length <= 255 && TYPE.test(type)))
    fault('content_type', 'must be a media type such as application/pdf');
  if (typeof type === 'string' && /^multipart\//i.test(type)) fault('content_type', 'must not be a multipart type');
  if (
    contentId !== undefined &&
    !(typeof contentId === 'string' && contentId.length <= 128 && CONTENT_ID.test(contentId))
  ) {
    fault('content_id', 'must have 1 to 128 letters, digits and . _ % + $ = -, and may end with "@" and a domain');
  }
  const source = content === undefined ? urlOf(url, fault) : bytesOf(content, fault);
  if (source === null || !isFilename(name) || faults.length > before) return null;
  return {
    filename: name,
    contentType: (type as string | undefined) ?? typeOfFilename(name),
    contentId: (contentId as string | undefined) ?? null,
    source,
  };
}

function isFilename(name: unknown): name is string {
  return (
    typeof name === 'string' &&
    name !== '' &&
    name.length <= FILENAME_CHARACTERS_MAX &&
    !CONTROL.test(name) &&
    !/[/\\]/.test(name) &&
    name !== '.' &&
    name !== '..'
  );
}

/**
 * Returns the file name of an attachment without one: the last path segment of the URL if it can be a file name, and
 * otherwise a fixed name with the extension of the content type.
 */
function derivedName(url: unknown, type: unknown, contentId: unknown): string {
  const segment = typeof url === 'string' ? lastSegment(url) : undefined;
  if (isFilename(segment)) return segment;
  const extension = typeof type === 'string' ? extensionOfType(type) : null;
  return `${contentId === undefined ? 'attachment' : 'inline'}${extension === null ? '' : `.${extension}`}`;
}

type AddFault = (name: string, message: string) => null;

/** Returns a Content-ID without angle brackets, which are only used in the message header (RFC 2392). */
function withoutBrackets(contentId: unknown): unknown {
  return typeof contentId === 'string' ? (IN_BRACKETS.exec(contentId.trim())?.[1] ?? contentId) : contentId;
}

/** Returns the bytes of `content`: base64, the JSON of a Node.js Buffer, or a list of bytes. Null for other formats. */
function bytesOf(content: unknown, fault: AddFault): { bytes: Buffer } | null {
  const bytes = typeof content === 'string' ? bytesOfBase64(content) : bytesOfNumbers(content);
  return bytes === null
    ? fault(
        'content',
        'must be base64 (RFC 4648), which may have line breaks, a list of bytes as numbers, or {"type": "Buffer", "data": [bytes as numbers]}',
      )
    : { bytes };
}

function urlOf(url: unknown, fault: AddFault): { url: string } | null {
  if (url === undefined) return null;
  if (typeof url !== 'string' || url.length > 2048 || !URL.canParse(url))
    return fault('url', 'must be a URL of at most 2048 characters');
  return new URL(url).protocol === 'https:' ? { url } : fault('url', 'must be an https URL');
}

function lastSegment(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const segment = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(segment) || undefined;
  } catch {
    return segment;
  }
}
