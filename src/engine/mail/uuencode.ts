import { Buffer } from 'node:buffer';

const UUENCODE = /^(?:x-)?(?:uue|uuencode)$/;
const BEGIN = /^begin [0-7]{3,4}(?:\s|$)/;
/** Length of a full line without a checksum: its length, and 45 bytes in 60 characters. */
const FULL_LINE_CHARACTERS = 61;
/** Maximum length of a line: its length, 63 bytes in 84 characters, and a checksum. */
const LINE_CHARACTERS_MAX = 86;
const LF = 0x0a;
/** The characters of the encoding. Encoders write 0 as a space or as a backquote. */
const [FIRST, LAST] = [0x20, 0x60];

/** Returns whether a transfer encoding, in lower case, is one of the names of uuencode, which no RFC registers. */
export const isUuencode = (encoding: string): boolean => UUENCODE.test(encoding);

/**
 * Decodes a uuencoded body, as POSIX specifies. Without the line `begin`, decodes a body only if all of it is encoded.
 * Text (`isText`) keeps its lines outside the encoded lines. A file consists of the encoded lines below `begin`, and
 * stays unchanged if most lines of the body are not encoded.
 */
export function decodeUuencoded(body: Buffer, isText: boolean): Buffer {
  const begin = nextBegin(body, 0);
  if (begin === null) {
    const { end, next, isComplete } = dataAt(body, 0);
    return isComplete && isBlank(body, next) ? decodeLines(body.subarray(0, end)) : body;
  }
  if (isText) return decodeInText(body);
  return isMostlyEncoded(body) ? decodeLines(body.subarray(begin.end)) : body;
}

/** Decodes each block from `begin` to `end`, and keeps all other lines. */
function decodeInText(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let kept = 0;
  for (let begin = nextBegin(body, 0); begin !== null;) {
    const data = dataAt(body, begin.end);
    if (data.isComplete) {
      pieces.push(body.subarray(kept, begin.start), decodeLines(body.subarray(begin.end, data.end)));
      kept = data.next;
    }
    begin = nextBegin(body, data.isComplete ? data.next : begin.end);
  }
  pieces.push(body.subarray(kept));
  return Buffer.concat(pieces);
}

/** Encoded lines. */
interface EncodedLines {
  /** Index after the last encoded line. */
  end: number;
  /** Index after the lines that mark the end. */
  next: number;
  /** False if the lines may be text in capitals, because no line is full and nothing marks the end. */
  isComplete: boolean;
}

/** Returns the encoded lines at `start`. They end at the first other line. */
function dataAt(body: Buffer, start: number): EncodedLines {
  const data: EncodedLines = { end: start, next: start, isComplete: false };
  let isEnded = false;
  for (const { line, end } of linesOf(body, start)) {
    const count = encodedCount(line);
    const hasData = data.end > start;
    if (line === 'end') return { ...data, next: end, isComplete: hasData };
    if (isEnded || count === null) break;
    isEnded = count === 0 && (line !== '' || hasData);
    if (line === '') continue;
    // A line of capitals is probably text.
    if (2 * line.length < charactersOf(count)) break;
    data.isComplete ||= (isEnded && hasData) || line.length >= FULL_LINE_CHARACTERS;
    data.next = end;
    if (!isEnded) data.end = end;
  }
  return data;
}

/** Decodes the lines up to the first line that encodes no bytes, and ignores other lines. */
function decodeLines(lines: Buffer): Buffer {
  // Mailers may remove spaces from the ends of lines, which then grow when decoded.
  const decoded = Buffer.alloc(lines.length);
  let length = 0;
  for (const { line } of linesOf(lines, 0)) {
    const count = encodedCount(line);
    if (line === 'end' || (count === 0 && length > 0)) break;
    if (count === null || count === 0) continue;
    decodeLine(line, decoded.subarray(length, length + count));
    length = Math.min(length + count, decoded.length);
  }
  return decoded.subarray(0, length);
}

/** Returns whether at least half of the lines with text are encoded. */
function isMostlyEncoded(body: Buffer): boolean {
  let balance = 0;
  for (const { line } of linesOf(body, 0)) {
    if (line === '' || line === 'end' || BEGIN.test(line)) continue;
    balance += encodedCount(line) === null ? -1 : 1;
  }
  return balance >= 0;
}

const isBlank = (body: Buffer, from: number): boolean => body.toString('latin1', from).trim() === '';

/** Returns the position of the next line `begin` from `from`, the start of a line. Null if there is none. */
function nextBegin(body: Buffer, from: number): { start: number; end: number } | null {
  for (let at = body.indexOf('begin ', from); at >= 0; at = body.indexOf('begin ', at + 1)) {
    const isLineStart = at === 0 || body[at - 1] === LF;
    if (!isLineStart || !BEGIN.test(body.toString('latin1', at, at + LINE_CHARACTERS_MAX))) continue;
    const end = body.indexOf(LF, at);
    return { start: at, end: end < 0 ? body.length : end + 1 };
  }
  return null;
}

/**
 * Yields the lines from `start`, without their ends, and the index after each. A line is cut after the maximum length.
 */
function* linesOf(body: Buffer, start: number): Generator<{ line: string; end: number }> {
  for (let at = start; at < body.length;) {
    const found = body.indexOf(LF, at);
    const end = found < 0 ? body.length : found;
    const line = body.toString('latin1', at, Math.min(end, at + LINE_CHARACTERS_MAX + 2)).trimEnd();
    at = end + 1;
    yield { line, end: Math.min(at, body.length) };
  }
}

/** Returns the number of bytes that a line encodes. Null if the line is not encoded. Mailers may remove its spaces. */
function encodedCount(line: string): number | null {
  if (line === '') return 0;
  const count = valueAt(line, 0);
  const hasChecksum = line.length === 2 + charactersOf(count);
  if (line.length > 1 + charactersOf(count) && !hasChecksum) return null;
  for (let at = 0; at < line.length - (hasChecksum ? 1 : 0); at += 1) {
    const code = line.charCodeAt(at);
    if (code < FIRST || code > LAST) return null;
  }
  return count;
}

const charactersOf = (count: number): number => Math.ceil(count / 3) * 4;

/** Returns the six bits of a character. Removed spaces at the end of a line are zero. */
const valueAt = (line: string, at: number): number => (at < line.length ? (line.charCodeAt(at) - FIRST) & 0x3f : 0);

/** Fills `target` with the bytes of an encoded line. Four characters encode three bytes. */
function decodeLine(line: string, target: Buffer): void {
  for (let at = 0; at < target.length; at += 1) {
    const first = 1 + Math.floor((at * 4) / 3);
    const bits = (valueAt(line, first) << 6) | valueAt(line, first + 1);
    target[at] = bits >> (4 - 2 * (at % 3));
  }
}
