import { Buffer } from 'node:buffer';
import { safeFilename } from './clean-text.js';
import { decodeSegments } from './encoded-words.js';
import { HEAD_BYTES_MAX } from './message-head.js';
import { headerOf, headersOf, type MimeLimits, parameterOf, sectionsOf, transferEncodingIn } from './mime-parts.js';
import { decodeUuencoded, isUuencode } from './uuencode.js';

/** A file in a message, as its headers describe it. */
export interface MessageFile {
  filename: string;
  contentType: string;
  /** Size after decoding. */
  sizeBytes: number;
}

export interface MessageFiles {
  files: MessageFile[];
  /** Size of the largest text or HTML body after decoding. */
  textBytesMax: number;
}

/** Limits for finding the files of a message. */
export const FILE_LIMITS: MimeLimits = { parts: 500, depth: 10, readsAttachedMessages: false };
const PARAMETERS_CHARS_MAX = 2_048;
const PARAMETER =
  /;\s{0,100}(?:file)?name(\*\d{1,2})?(\*)?\s{0,10}=\s{0,10}(?:"((?:[^"\\]|\\.){0,500})"|([^\s;"]{1,500}))/gi;
const NAME = /name/i;
const SOFT_BREAK = /^=[ \t]{0,10}\r\n/;
const UNNAMED = 'attachment';

/**
 * Returns the files of a message and the size of its bodies, or null if it has more than 500 parts or 10 levels. An
 * attached message counts as a file. Measures the content without storing it.
 */
export function messageFilesOf(raw: Buffer): MessageFiles | null {
  const found: MessageFiles = { files: [], textBytesMax: 0 };
  // Uses a Latin-1 string, because it has one character per byte, and slices of a string need no copy.
  return collect(raw.toString('latin1'), 0, { left: FILE_LIMITS.parts }, found) ? found : null;
}

function collect(text: string, depth: number, budget: { left: number }, found: MessageFiles): boolean {
  budget.left -= 1;
  if (budget.left < 0 || depth > FILE_LIMITS.depth) return false;
  const { head, body } = split(text);
  const { headers } = headersOf(head.slice(0, HEAD_BYTES_MAX).replaceAll('\r\n', '\n'));
  const contentType = headerOf({ headers }, 'content-type');
  const type = /^[^\s;]{1,100}/.exec(contentType)?.[0].toLowerCase() ?? 'text/plain';
  const boundary = type.startsWith('multipart/') ? parameterOf(contentType, 'boundary') : '';
  if (boundary !== '')
    return sectionsOf(body, boundary, '\r\n', FILE_LIMITS.parts + 1).every((section) =>
      collect(section, depth + 1, budget, found),
    );
  const disposition = headerOf({ headers }, 'content-disposition');
  const filename = nameIn(disposition) ?? nameIn(contentType);
  const isText = filename === null && /^text\/(?:plain|html)$/.test(type) && !/^attachment\b/i.test(disposition);
  const sizeBytes = decodedBytes(body, headerOf({ headers }, 'content-transfer-encoding'), isText);
  if (isText) found.textBytesMax = Math.max(found.textBytesMax, sizeBytes);
  else found.files.push({ filename: filename ?? UNNAMED, contentType: type, sizeBytes });
  return true;
}

function split(text: string): { head: string; body: string } {
  if (text.startsWith('\r\n')) return { head: '', body: text.slice(2) };
  const end = text.indexOf('\r\n\r\n');
  return end === -1 ? { head: text, body: '' } : { head: text.slice(0, end + 2), body: text.slice(end + 4) };
}

/** Returns a file name (RFC 2183, and RFC 2231 with its continuations), or null if the header has none. */
function nameIn(header: string): string | null {
  if (!NAME.test(header)) return null;
  const given = [...header.slice(0, PARAMETERS_CHARS_MAX).matchAll(PARAMETER)].map(
    ([, part, extended, quoted, plain = '']) => ({
      isExtended: part !== undefined || extended !== undefined,
      isEncoded: extended !== undefined,
      value: quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1'),
    }),
  );
  // Prefers the extended form of the parameter (RFC 2231). Clients add the plain form only for old readers.
  const extended = given.filter(({ isExtended }) => isExtended);
  const decoded = decodeSegments(extended.length > 0 ? extended : given.slice(0, 1));
  return decoded === '' ? null : safeFilename(decoded);
}

function decodedBytes(body: string, encoding: string, isText: boolean): number {
  const name = transferEncodingIn(encoding);
  if (isUuencode(name)) return decodeUuencoded(Buffer.from(body, 'latin1'), isText).length;
  if (name === 'base64') return Buffer.from(body, 'base64').length;
  if (name !== 'quoted-printable') return body.length;
  let size = body.length;
  for (let at = body.indexOf('='); at !== -1; at = body.indexOf('=', at + 1)) {
    if (isHex(body.charCodeAt(at + 1)) && isHex(body.charCodeAt(at + 2))) size -= 2;
    else size -= SOFT_BREAK.exec(body.slice(at, at + 14))?.[0].length ?? 0;
  }
  return size;
}

/** Returns whether a character is one of `0-9`, `A-F` and `a-f`. */
function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}
