import { Transform, type TransformCallback } from 'node:stream';

const UUENCODE = /^(?:x-)?uue(?:ncode)?$/;
const BEGIN = /^begin [0-7]{3,4}(?:\s|$)/;
/** Maximum length of a line: its length, 63 bytes in 84 characters, and a checksum. */
const LINE_CHARACTERS_MAX = 86;
const LF = 0x0a;
/** The characters of the encoding. Encoders write 0 as a space or as a backquote. */
const [FIRST, LAST] = [0x20, 0x60];

/** Returns whether a transfer encoding, in lower case, is one of the names of uuencode, which no RFC registers. */
export const isUuencode = (encoding: string | false): boolean => encoding !== false && UUENCODE.test(encoding);

/** Decodes a uuencoded body as a stream. Holds the body in memory, because any of its lines may be the first. */
export class UuencodeDecoder extends Transform {
  private readonly chunks: Buffer[] = [];

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.chunks.push(chunk);
    done();
  }

  override _flush(done: TransformCallback): void {
    done(null, decodeUuencoded(Buffer.concat(this.chunks)));
  }
}

/**
 * Decodes a uuencoded body, as POSIX specifies. Ignores text before the line `begin` and lines that are not encoded. The
 * lines `begin` and `end` may be missing. Returns a body without any encoded line unchanged. Returns at most as many
 * bytes as the body has, because mailers may remove spaces from the ends of lines, which then grow when decoded.
 */
export function decodeUuencoded(body: Buffer): Buffer {
  const start = dataStart(body);
  const decoded = Buffer.alloc(body.length);
  let length = 0;
  let isData = false;
  for (const line of linesOf(body, start)) {
    const count = encodedCount(line);
    if (isData && (count === 0 || line === 'end')) break;
    if (count === null || count === 0) continue;
    // Without `begin`, a line of capitals is probably text.
    if (start === 0 && 2 * line.length < charactersOf(count)) continue;
    isData = true;
    decodeLine(line, decoded.subarray(length, length + count));
    length = Math.min(length + count, decoded.length);
  }
  return isData || start > 0 ? decoded.subarray(0, length) : body;
}

/** Returns the index after the line `begin`, or 0 if there is no such line. */
function dataStart(body: Buffer): number {
  for (let at = body.indexOf('begin '); at >= 0; at = body.indexOf('begin ', at + 1)) {
    const isLineStart = at === 0 || body[at - 1] === LF;
    if (!isLineStart || !BEGIN.test(body.toString('latin1', at, at + LINE_CHARACTERS_MAX))) continue;
    const end = body.indexOf(LF, at);
    return end < 0 ? body.length : end + 1;
  }
  return 0;
}

/** Yields the lines from `start`, without their ends. A line is cut after the maximum length. */
function* linesOf(body: Buffer, start: number): Generator<string> {
  for (let at = start; at < body.length;) {
    const found = body.indexOf(LF, at);
    const end = found < 0 ? body.length : found;
    yield body.toString('latin1', at, Math.min(end, at + LINE_CHARACTERS_MAX + 2)).trimEnd();
    at = end + 1;
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
