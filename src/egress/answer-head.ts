import type { AnswerFault } from './answer-faults.js';
import { BadAnswer } from './failure.js';

export interface AnswerHead {
  readonly status: number;
  /** Response headers. Names are in lower case. Values of a repeated header are joined with ", ". */
  readonly headers: Record<string, string>;
  readonly isHttp11: boolean;
  /** False if the head violated the grammar of RFC 9112 and was repaired. The connection must not be reused then. */
  readonly isStrict: boolean;
}

/** Header lines of a response. `isStrict`: they follow the strict grammar and were not repaired. */
export interface Fields {
  readonly text: string;
  readonly isStrict: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/**
 * Lenient status line: allows any run of spaces (RFC 9112, section 4), and the versions 1.2 and 2.0, which curl and Go
 * also treat as 1.1.
 */
const TOLERABLE_STATUS_LINE = /^HTTP\/(?:1\.\d|2\.0) +([1-9]\d\d)(?: [^\0\r\n]*)?$/;
const KNOWN_VERSION = /^HTTP\/(?:1\.\d|2\.0)(?![^ \t])/;
const FIELD_LINES = /^(?:[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const OBS_FOLD = /\r\n[\t ]+/g;
const TOLERABLE_LINE = /^([!#$%&'*+\-.^_`|~\w]+)[\t ]*:(.*)$/s;
const CONTROLS = /[\x01-\x08\x0a-\x1f\x7f]/g;
const BARE_LINE_FEED = /(?:^|[^\r])\n/;
/** Start of a SETTINGS frame, the first frame of every HTTP/2 server (RFC 9113, section 3.4). */
const HTTP2 = /^\0\0[^]\x04/;
/** Start of a TLS alert or handshake record (RFC 8446, section 5.1). */
const TLS = /^[\x15\x16]\x03/;

/** Parses the status line and the header lines, each of which ends with CR LF. Throws `BadAnswer`. */
export function parseHead(text: string): AnswerHead {
  const lineEnd = text.indexOf('\r\n');
  const line = text.slice(0, lineEnd);
  const strict = STATUS_LINE.exec(line);
  const status = strict?.[2] ?? TOLERABLE_STATUS_LINE.exec(line)?.[1];
  if (status === undefined) throw new BadAnswer(faultOfStatusLine(line));
  const fields = checkFields(text.slice(lineEnd + 2));
  return {
    status: Number(status),
    headers: parsed(fields.text),
    isHttp11: strict?.[1] === '1',
    isStrict: strict !== null && fields.isStrict,
  };
}

/** Throws `BadAnswer` if a complete or partial status line cannot be valid. */
export function checkStatusLine(line: string, isWhole: boolean): void {
  const isGood = isWhole ? TOLERABLE_STATUS_LINE.test(line) : line.startsWith('HTTP/'.slice(0, line.length));
  if (!isGood) throw new BadAnswer(faultOfStatusLine(line));
}

/**
 * Returns the header lines, repaired where RFC 9112 or other clients allow it:
 *
 * - Folded lines are joined with a space (RFC 9112, section 5.2).
 * - Blanks before a colon are removed (section 5.1).
 * - Control characters in values become spaces (RFC 9110, section 5.5).
 * - A line whose name is not a token is dropped, as in browsers and Python.
 *
 * Throws `BadAnswer` for a NUL, a bare CR, a bare LF, or a line without a colon. Clients disagree about the meaning of
 * such input.
 */
export function checkFields(text: string): Fields {
  if (FIELD_LINES.test(text)) return { text, isStrict: true };
  if (text.includes('\0')) throw new BadAnswer('zeroByte');
  if (BARE_LINE_FEED.test(text)) throw new BadAnswer('bareLineFeed');
  if (text.startsWith(' ') || text.startsWith('\t')) throw new BadAnswer('blankFirst');
  return { text: text.replace(OBS_FOLD, ' ').split('\r\n').slice(0, -1).map(repairLine).join(''), isStrict: false };
}

/** Returns whether an LF without a preceding CR occurs at or after the index `from`. */
export function hasBareLineFeed(bytes: Buffer, from: number): boolean {
  for (let at = bytes.indexOf(LF, from); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (at === 0 || bytes[at - 1] !== CR) return true;
  }
  return false;
}

function repairLine(line: string): string {
  if (line.includes('\r')) throw new BadAnswer('bareCarriageReturn');
  if (!line.includes(':')) throw new BadAnswer('noColon');
  const [, name, value] = TOLERABLE_LINE.exec(line) ?? [];
  return name === undefined || value === undefined ? '' : `${name}:${value.replace(CONTROLS, ' ')}\r\n`;
}

function faultOfStatusLine(line: string): AnswerFault {
  if (HTTP2.test(line)) return 'isHttp2';
  if (TLS.test(line)) return 'isTls';
  if (!line.startsWith('HTTP/')) return 'noStatusLine';
  if (BARE_LINE_FEED.test(line)) return 'bareLineFeed';
  if (line.includes('\0')) return 'zeroByte';
  if (line.includes('\r')) return 'bareCarriageReturn';
  return KNOWN_VERSION.test(line) ? 'badStatus' : 'badVersion';
}

/** Parses valid header lines. The result has no prototype, because `__proto__` is a valid header name. */
function parsed(fields: string): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (let at = 0; at < fields.length;) {
    const colon = fields.indexOf(':', at);
    const end = fields.indexOf('\r\n', colon);
    const name = fields.slice(at, colon).toLowerCase();
    const value = withoutBlanks(fields, colon + 1, end);
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
    at = end + 2;
  }
  return headers;
}

/** Returns the text without surrounding blanks and tabs (RFC 9112, section 5). JavaScript's `trim` removes more. */
function withoutBlanks(text: string, from: number, to: number): string {
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

const isBlank = (code: number): boolean => code === 32 || code === 9;

const CR = 13;
const LF = 10;
