import { Buffer } from 'node:buffer';
import { HEAD_BYTES_MAX } from './message-head.js';

/** A MIME part or the whole message. Parsing tolerates invalid syntax and never rejects a message. */
export interface MimePart {
  /** Header fields in order, with names in lower case and unfolded values. */
  headers: readonly (readonly [name: string, value: string])[];
  /** Media type in lower case. */
  type: string;
  /** Decoded text of a part without subparts. Empty for a multipart. */
  text: string;
  parts: readonly MimePart[];
}

export interface MimeLimits {
  /** Maximum number of parts, including the message. Later parts are omitted. */
  parts: number;
  /** Maximum nesting. Parts of the last level have no subparts. */
  depth: number;
  /** Whether the parts inside attached messages are read. They count toward `parts`. */
  readsAttachedMessages: boolean;
}

/** Limits for delivery reports, which have few parts in at most three levels. */
const REPORT_LIMITS: MimeLimits = { parts: 64, depth: 8, readsAttachedMessages: true };
const HEADERS_MAX = 500;
const HEADER_CHARS_MAX = 16_384;
const BOUNDARY_CHARS_MAX = 200;
const MULTIPART = 'multipart/';
const MESSAGE = /^message\/(?:rfc822|global)$/;

/**
 * Parses a message (RFC 2045, RFC 2046), by default at most 64 parts and eight levels. Takes linear time for any
 * content.
 */
export function mimePartsOf(raw: Buffer, limits: MimeLimits = REPORT_LIMITS): MimePart {
  const text = raw.toString('latin1').replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  return partOf(text, 0, { left: limits.parts }, limits);
}

/** Iterates over the part and all parts inside it, outermost first. */
export function* walk(part: MimePart): Iterable<MimePart> {
  yield part;
  for (const inner of part.parts) yield* walk(inner);
}

/** Iterates over the part and all parts inside it, outermost first, without the parts of attached messages. */
export function* walkOwn(part: MimePart): Iterable<MimePart> {
  yield part;
  if (!MESSAGE.test(part.type)) for (const inner of part.parts) yield* walkOwn(inner);
}

/** Returns the first header with this name, or an empty string. */
export function headerOf({ headers }: Pick<MimePart, 'headers'>, name: string): string {
  return headers.find(([known]) => known === name)?.[1] ?? '';
}

/** Returns the headers up to the first empty line. `rest` is the start of the body. */
export function headersOf(text: string): { headers: [string, string][]; rest: number } {
  const headers: [string, string][] = [];
  let at = 0;
  while (at < text.length) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    at = end + 1;
    if (line === '') break;
    if (at > HEAD_BYTES_MAX) {
      const empty = text.indexOf('\n\n', at - 1);
      return { headers, rest: empty === -1 ? text.length : empty + 2 };
    }
    const colon = line.indexOf(':');
    const last = headers.at(-1);
    if (/^[ \t]/.test(line)) {
      if (last !== undefined && last[1].length < HEADER_CHARS_MAX) last[1] += ` ${line.trim()}`;
    } else if (colon <= 0 && headers.length === 0) {
      // The part has no headers: its text directly follows the boundary.
      return { headers, rest: at - line.length - 1 };
    } else if (colon > 0 && headers.length < HEADERS_MAX) {
      headers.push([
        line.slice(0, colon).trim().toLowerCase(),
        line
          .slice(colon + 1)
          .trim()
          .slice(0, HEADER_CHARS_MAX),
      ]);
    }
  }
  return { headers, rest: Math.min(at, text.length) };
}

/**
 * Returns the name of a transfer encoding in lower case. Some programs quote the name, or write parameters or a semicolon
 * after it.
 */
export function transferEncodingIn(value: string): string {
  return /^[\s"]*([^\s";,()]{1,40})/.exec(value)?.[1]?.toLowerCase() ?? '';
}

/** Returns a parameter of a structured header (RFC 2045, section 5.1), or an empty string. */
export function parameterOf(value: string, name: string): string {
  const found = new RegExp(
    `;\\s{0,100}${name}\\s{0,10}=\\s{0,10}(?:"([^"]{0,${BOUNDARY_CHARS_MAX}})"|([^\\s;"]{1,${BOUNDARY_CHARS_MAX}}))`,
    'i',
  ).exec(value);
  return found?.[1] ?? found?.[2] ?? '';
}

/**
 * Splits a multipart body (RFC 2046, section 5.1.1) into at most `sectionsMax` sections. If the closing boundary is
 * missing, the last section ends with the body.
 */
export function sectionsOf(body: string, boundary: string, lineBreak: string, sectionsMax: number): string[] {
  const sections: string[] = [];
  const delimiter = `--${boundary}`;
  const next = (from: number): number => {
    const at = body.indexOf(lineBreak + delimiter, from);
    return at === -1 ? -1 : at + lineBreak.length;
  };
  let start = -1;
  for (let at = body.startsWith(delimiter) ? 0 : next(0); at !== -1; at = next(at)) {
    const end = body.indexOf(lineBreak, at);
    const tail = body.slice(at + delimiter.length, end === -1 ? undefined : end).trimEnd();
    if (tail !== '' && tail !== '--') continue;
    if (start !== -1) sections.push(body.slice(start, Math.max(start, at - lineBreak.length)));
    start = tail === '--' || end === -1 ? -1 : end + lineBreak.length;
    if (tail === '--' || sections.length >= sectionsMax) return sections;
  }
  if (start !== -1) sections.push(body.slice(start));
  return sections;
}

function partOf(text: string, depth: number, budget: { left: number }, limits: MimeLimits): MimePart {
  budget.left -= 1;
  const { headers, rest } = headersOf(text);
  const contentType = headerOf({ headers }, 'content-type');
  const type = /^[^\s;]{1,100}/.exec(contentType)?.[0].toLowerCase() ?? 'text/plain';
  const body = text.slice(rest);
  const boundary = parameterOf(contentType, 'boundary');
  const inner =
    depth >= limits.depth || budget.left <= 0
      ? []
      : type.startsWith(MULTIPART) && boundary !== ''
        ? sectionsOf(body, boundary, '\n', limits.parts)
        : limits.readsAttachedMessages && MESSAGE.test(type)
          ? [decoded(body, headerOf({ headers }, 'content-transfer-encoding'))]
          : [];
  const parts: MimePart[] = [];
  for (const section of inner) if (budget.left > 0) parts.push(partOf(section, depth + 1, budget, limits));
  return {
    headers,
    type,
    parts,
    text:
      parts.length > 0
        ? ''
        : readable(
            decoded(body, headerOf({ headers }, 'content-transfer-encoding')),
            parameterOf(contentType, 'charset'),
          ),
  };
}

/** Decodes the transfer encoding. The result has one character per byte. */
function decoded(body: string, encoding: string): string {
  const name = transferEncodingIn(encoding);
  if (name === 'base64') return Buffer.from(body, 'base64').toString('latin1');
  if (name !== 'quoted-printable') return body;
  return body
    .replace(/=[ \t]{0,10}\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Decodes valid UTF-8 as UTF-8, and other bytes in the given charset, or in Latin-1 if the charset is unknown. */
function readable(bytes: string, charset: string): string {
  const buffer = Buffer.from(bytes, 'latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer);
  } catch {
    try {
      return new TextDecoder(charset === '' ? 'latin1' : charset).decode(buffer);
    } catch {
      return bytes;
    }
  }
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}
