import { type AnswerHead, checkFields, checkStatusLine, hasBareLineFeed, parseHead } from './answer-head.js';
import { BadAnswer } from './failure.js';

export interface AnswerSink {
  /** Receives the head of the final response. Names are in lower case, repeated values joined with ", ". */
  onHead(status: number, headers: Record<string, string>): void;
  /** Receives a piece of the body. Returns false to stop reading. */
  onBody(bytes: Buffer): boolean;
}

type Stage = 'head' | 'counted' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'until-end' | 'complete';

/** Maximum size of a head. By default, Go's net/http accepts 1 MB, curl 300 KB, undici and Node.js 16 KB. */
const HEAD_BYTES_MAX = 65_536;
const CHUNK_LINE_BYTES_MAX = 4_096;
/**
 * Safety margin: a connection is not reused shortly before the server's announced idle timeout, because the server may
 * be closing it.
 */
const TIMEOUT_MARGIN_MS = 2_000;

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const LENGTH = /^\d{1,15}$/;
/** Strict grammar of a chunk size with chunk extensions (RFC 9112, section 7.1.1). Extensions are ignored. */
const STRICT_CHUNK_LINE =
  /^[\da-fA-F]+(?:[\t ]*;[\t ]*[!#$%&'*+\-.^_`|~\w]+(?:[\t ]*=[\t ]*(?:[!#$%&'*+\-.^_`|~\w]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;
/** Lenient grammar: curl and Go's net/http accept blanks after the size, and any text as an extension. */
const TOLERABLE_CHUNK_LINE = /^([\da-fA-F]{1,16})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;
const FRAMING = /^(?:content-length|transfer-encoding):/im;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,; \t])timeout=(\d{1,6})/i;

/**
 * Parses consecutive HTTP/1.1 responses (RFC 9112) of untrusted servers.
 *
 * Accepts a response if the RFC allows it, or if two of undici, curl, Go and Python accept it. Throws `BadAnswer` for
 * ambiguous input: bare LF or CR, conflicting lengths, sizes that are not numbers. Skips informational responses (RFC
 * 9110, section 15.2), except 101, which is rejected because it changes the protocol.
 *
 * Prevents reuse of the connection if clients could disagree about where a response ends. Leftover bytes can then never
 * become the response to another request.
 */
export class AnswerReader {
  /** Whether the connection may be reused for another request. Valid once a response is complete. */
  isPersistent = false;
  /** The server's announced idle timeout minus a margin, in milliseconds. Null if the server did not announce it. */
  keepAliveMs: number | null = null;
  private stage: Stage = 'complete';
  private held: Buffer | null = null;
  /**
   * Buffer with spare capacity, to which further pieces of a head are appended without a copy of the earlier ones.
   * `held` is a slice of it once a second piece has arrived.
   */
  private room: Buffer | null = null;
  private searched = 0;
  /** Number of bytes of the body, or of the current chunk, that have not arrived yet. */
  private left = 0;
  private isOfHead = false;

  /** Prepares for the next response. `isOfHead`: the request is a HEAD request, so the response has no body. */
  expect(isOfHead: boolean): void {
    this.stage = 'head';
    this.held = null;
    this.room = null;
    this.isOfHead = isOfHead;
  }

  /**
   * Parses bytes. Returns true once the response is complete. Surplus bytes prevent reuse of the connection. Throws
   * `BadAnswer`.
   */
  read(chunk: Buffer, sink: AnswerSink): boolean {
    let bytes: Buffer | null = this.held === null ? chunk : this.appended(this.held, chunk);
    this.searched = this.held?.length ?? 0;
    this.held = null;
    while (bytes !== null && bytes.length > 0) {
      bytes = this.step(bytes, sink);
      this.searched = 0;
    }
    if (this.held === null) this.room = null;
    return this.stage === 'complete';
  }

  /** Handles the end of the connection. Returns true if this end completes the response. */
  end(): boolean {
    if (this.stage !== 'until-end') return false;
    this.stage = 'complete';
    return true;
  }

  /** Consumes the bytes of the current stage and returns the rest, or null if more input is needed. */
  private step(bytes: Buffer, sink: AnswerSink): Buffer | null {
    switch (this.stage) {
      case 'head':
        return this.head(bytes, sink);
      case 'chunk-size':
        return this.chunkSize(bytes);
      case 'chunk-end':
        return this.chunkEnd(bytes);
      case 'trailers':
        return this.trailers(bytes);
      case 'until-end':
        return sink.onBody(bytes) ? null : this.stop();
      case 'counted':
      case 'chunk':
        return this.body(bytes, sink);
      case 'complete':
        return this.stop();
    }
  }

  private head(bytes: Buffer, sink: AnswerSink): Buffer | null {
    const end = bytes.indexOf(HEAD_END, this.searchedBut(HEAD_END.length));
    if (end === -1) return this.holdHead(bytes);
    if (end > HEAD_BYTES_MAX) throw new BadAnswer('longHead');
    const head = parseHead(bytes.toString('latin1', 0, end + LINE_END.length));
    const rest = bytes.subarray(end + HEAD_END.length);
    if (head.status === 101) throw new BadAnswer('switchedProtocol');
    if (head.status < 200) return rest;
    this.frame(head);
    sink.onHead(head.status, head.headers);
    return rest;
  }

  /** Determines how the body ends (RFC 9112, section 6.3) and whether the connection can be reused (section 9.3). */
  private frame({ status, headers, isHttp11, isStrict }: AnswerHead): void {
    const { connection, 'keep-alive': kept } = headers;
    const options = connection === undefined ? [] : elementsOf(connection);
    // After HEAD, the connection is never reused. Some servers send a body anyway, and it would be parsed as the next
    // response.
    this.isPersistent =
      isStrict && !this.isOfHead && !options.includes('close') && (isHttp11 || options.includes('keep-alive'));
    const timeout = kept === undefined ? null : KEEP_ALIVE_TIMEOUT.exec(kept)?.[1];
    this.keepAliveMs = timeout == null ? null : Number(timeout) * 1000 - TIMEOUT_MARGIN_MS;
    if (this.keepAliveMs !== null && this.keepAliveMs <= 0) this.isPersistent = false;
    if (this.isOfHead || status === 204 || status === 304) this.skipBody(headers);
    else this.frameBody(headers, isHttp11);
  }

  /** Handles responses without a body (RFC 9112, section 6.3). Prevents reuse if headers announce a body. */
  private skipBody({ 'content-length': length, 'transfer-encoding': coding }: Record<string, string>): void {
    if (coding !== undefined || (length !== undefined && length !== '0')) this.isPersistent = false;
    this.stage = 'complete';
  }

  private frameBody(headers: Record<string, string>, isHttp11: boolean): void {
    const { 'content-length': length, 'transfer-encoding': coding } = headers;
    if (length !== undefined) headers['content-length'] = lengthOf(length);
    const bodyBytes = length === undefined ? null : Number(headers['content-length']);
    const codings = coding === undefined ? null : codingsOf(coding);
    // A transfer coding overrides a length (RFC 9112, section 6.3), but other clients may use the length. The
    // connection is not reused if clients could disagree about the end of the body.
    if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || bodyBytes !== null || !isHttp11))
      this.isPersistent = false;
    if (codings?.at(-1) === 'chunked') {
      this.stage = 'chunk-size';
    } else if ((codings === null || codings.length === 0) && bodyBytes !== null) {
      this.left = bodyBytes;
      this.stage = bodyBytes === 0 ? 'complete' : 'counted';
    } else {
      this.isPersistent = false;
      this.stage = 'until-end';
    }
  }

  private body(bytes: Buffer, sink: AnswerSink): Buffer | null {
    const taken = bytes.length > this.left ? bytes.subarray(0, this.left) : bytes;
    this.left -= taken.length;
    if (this.left === 0) this.stage = this.stage === 'chunk' ? 'chunk-end' : 'complete';
    if (!sink.onBody(taken)) return this.stop();
    return bytes.subarray(taken.length);
  }

  private chunkSize(bytes: Buffer): Buffer | null {
    const end = bytes.indexOf(LINE_END);
    if (end > CHUNK_LINE_BYTES_MAX || (end === -1 && bytes.length > CHUNK_LINE_BYTES_MAX))
      throw new BadAnswer('longChunkLine');
    if (!isHexDigit(bytes[0] as number)) throw new BadAnswer('badChunkSize');
    if (end === -1) return this.holdLines(bytes);
    const line = bytes.toString('latin1', 0, end);
    const size = Number.parseInt(TOLERABLE_CHUNK_LINE.exec(line)?.[1] ?? '', 16);
    if (!Number.isSafeInteger(size)) throw new BadAnswer(line.includes('\n') ? 'bareLineFeed' : 'badChunkSize');
    if (!STRICT_CHUNK_LINE.test(line)) this.isPersistent = false;
    this.left = size;
    this.stage = size === 0 ? 'trailers' : 'chunk';
    return bytes.subarray(end + LINE_END.length);
  }

  private chunkEnd(bytes: Buffer): Buffer | null {
    if (bytes[0] === LF) throw new BadAnswer('bareLineFeed');
    if (bytes.length === 1 && bytes[0] === CR) return this.hold(bytes);
    if (bytes[0] !== CR || bytes[1] !== LF) throw new BadAnswer('badChunkEnd');
    this.stage = 'chunk-size';
    return bytes.subarray(LINE_END.length);
  }

  /**
   * Ignores trailers (RFC 9110, section 6.5.1). A trailer that affects framing prevents reuse of the connection,
   * because other clients may apply it.
   */
  private trailers(bytes: Buffer): Buffer | null {
    const isEmpty = bytes[0] === CR && (bytes.length === 1 || bytes[1] === LF);
    const end = isEmpty ? bytes.indexOf(LINE_END) : bytes.indexOf(HEAD_END, this.searchedBut(HEAD_END.length));
    if (end > HEAD_BYTES_MAX || (end === -1 && bytes.length > HEAD_BYTES_MAX)) throw new BadAnswer('longTrailers');
    if (end === -1) return this.holdLines(bytes);
    const length = isEmpty ? 0 : end + LINE_END.length;
    const fields = checkFields(bytes.toString('latin1', 0, length));
    if (!fields.isStrict || FRAMING.test(fields.text)) this.isPersistent = false;
    this.stage = 'complete';
    return bytes.subarray(length + LINE_END.length);
  }

  /** Rejects bytes immediately if they cannot become a head, instead of waiting for more input. */
  private holdHead(bytes: Buffer): null {
    if (bytes.length > HEAD_BYTES_MAX) throw new BadAnswer('longHead');
    const lineFeed = bytes.indexOf(LF);
    if (lineFeed === -1) checkStatusLine(bytes.toString('latin1', 0, BEGINNING_BYTES), false);
    else if (lineFeed >= this.searched)
      checkStatusLine(bytes.toString('latin1', 0, bytes[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed + 1), true);
    return this.holdLines(bytes);
  }

  private holdLines(bytes: Buffer): null {
    if (hasBareLineFeed(bytes, this.searched)) throw new BadAnswer('bareLineFeed');
    return this.hold(bytes);
  }

  /** Concatenates `held` and `chunk`. The spare capacity avoids a copy per byte if a head arrives byte by byte. */
  private appended(held: Buffer, chunk: Buffer): Buffer {
    const length = held.length + chunk.length;
    if (this.room === null || held.buffer !== this.room.buffer || held.byteOffset + length > this.room.length) {
      this.room = Buffer.allocUnsafeSlow(Math.max(length, Math.min(length * 2, HEAD_BYTES_MAX)));
      held.copy(this.room);
      chunk.copy(this.room, held.length);
      return this.room.subarray(0, length);
    }
    chunk.copy(this.room, held.byteOffset + held.length);
    return this.room.subarray(held.byteOffset, held.byteOffset + length);
  }

  /**
   * Returns the index at which to continue the search for an end marker of `endBytes` bytes. Goes back a few bytes,
   * because the searched bytes may end with the start of the marker.
   */
  private searchedBut(endBytes: number): number {
    return Math.max(0, this.searched - endBytes + 1);
  }

  private hold(bytes: Buffer): null {
    this.held = bytes;
    return null;
  }

  private stop(): null {
    this.isPersistent = false;
    return null;
  }
}

const CR = 13;
const LF = 10;
/** Length of `HTTP/`, which is enough to detect a response that cannot be HTTP/1.1. */
const BEGINNING_BYTES = 5;

const isHexDigit = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);

/** Returns the content length. Repeated identical values are treated as one value (RFC 9110, section 8.6). */
function lengthOf(value: string): string {
  if (LENGTH.test(value)) return value;
  const [first = '', ...others] = value.split(',').map((each) => each.trim());
  if (![first, ...others].every((each) => LENGTH.test(each))) throw new BadAnswer('badLength');
  if (others.some((other) => other !== first)) throw new BadAnswer('conflictingLengths');
  return first;
}

/** Returns the list's elements in lower case. A regular expression would take quadratic time for 64 KB of blanks. */
const elementsOf = (value: string): string[] =>
  value
    .toLowerCase()
    .split(',')
    .map((each) => each.trim());

/** Returns the transfer codings. Omits empty list elements (RFC 9110, section 5.6.1) and `identity` (RFC 2616). */
const codingsOf = (value: string): string[] => elementsOf(value).filter((each) => each !== '' && each !== 'identity');
