import { BadAnswer } from './failure.js';

/** Who an answer is for, piece by piece. */
export interface AnswerSink {
  /** The final head: never an informational one. Names in lower case; what is repeated is joined with ", ". */
  onHead(status: number, headers: Record<string, string>): void;
  /** A piece of the body. False: no more is wanted. */
  onBody(bytes: Buffer): boolean;
}

/** Where the next byte belongs. */
type Stage = 'head' | 'counted' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'until-end' | 'complete';

const HEAD_BYTES_MAX = 16_384;
const CHUNK_LINE_BYTES_MAX = 4_096;
const TRAILER_BYTES_MAX = 16_384;
/** What a server that closes an idle connection in `timeout` seconds is not to be asked in any more: it may be closing. */
const TIMEOUT_MARGIN_MS = 2_000;

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const BEGINNING = 'HTTP/1.';
const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const FIELDS = /^(?:[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;
const BARE_LINE_FEED = /(?:^|[^\r])\n/;
const LENGTH = /^\d{1,15}$/;
/** With its extensions (RFC 9112, section 7.1.1), which are passed over. */
const CHUNK_LINE = /^([\da-fA-F]{1,12})(?:[\t ]*;[\t ]*[!#$%&'*+\-.^_`|~\w]+(?:[\t ]*=[\t ]*(?:[!#$%&'*+\-.^_`|~\w]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;
/** Too late to say it there (RFC 9110, section 6.5.1). */
const FRAMING = /^(?:content-length|transfer-encoding):/im;
const LAST_IS_CHUNKED = /(?:^|,)[\t ]*chunked[\t ]*$/i;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,; \t])timeout=(\d{1,6})/i;

/**
 * Reads answers of HTTP/1.1, one after the other (RFC 9112), as strictly as a client must that others' servers choose the
 * bytes for: lines end with CR LF, names are tokens, a length is one number and never beside a transfer coding (section 6.3).
 * Informational answers are passed over, asked for or not (RFC 9110, section 15.2); 101 would change the protocol, and nobody asks for that.
 */
export class AnswerReader {
  /** Whether another request may follow on the connection; known once an answer is complete. */
  isPersistent = false;
  /** How long the server keeps an idle connection, in milliseconds and with a margin, if it said so. */
  keepAliveMs: number | null = null;
  private stage: Stage = 'complete';
  /** The beginning of a head or of a line whose end has not come. */
  private held: Buffer | null = null;
  /** Bytes of the body, or of the chunk, that are still to come. */
  private left = 0;
  private isOfHead = false;

  /** A request is about to be sent; `isOfHead`: a HEAD, whose answer has no body whatever it says. */
  expect(isOfHead: boolean): void {
    this.stage = 'head';
    this.held = null;
    this.isOfHead = isOfHead;
  }

  /** True once the answer is complete; what follows it nobody asked for, and no request may follow that. Throws `BadAnswer`. */
  read(chunk: Buffer, sink: AnswerSink): boolean {
    let bytes: Buffer | null = this.held === null ? chunk : Buffer.concat([this.held, chunk]);
    this.held = null;
    while (bytes !== null && bytes.length > 0) bytes = this.step(bytes, sink);
    return this.stage === 'complete';
  }

  /** The connection has ended. True when that is how the answer says that it is complete. */
  end(): boolean {
    if (this.stage !== 'until-end') return false;
    this.stage = 'complete';
    return true;
  }

  /** Takes what belongs to this stage, and returns the rest; null when there is nothing to go on with. */
  private step(bytes: Buffer, sink: AnswerSink): Buffer | null {
    switch (this.stage) {
      case 'head': return this.head(bytes, sink);
      case 'chunk-size': return this.chunkSize(bytes);
      case 'chunk-end': return this.chunkEnd(bytes);
      case 'trailers': return this.trailers(bytes);
      case 'until-end': return sink.onBody(bytes) ? null : this.stop();
      case 'counted':
      case 'chunk': return this.body(bytes, sink);
      case 'complete': return this.stop();
    }
  }

  private head(bytes: Buffer, sink: AnswerSink): Buffer | null {
    const end = bytes.indexOf(HEAD_END);
    if (end === -1) return this.holdHead(bytes);
    if (end > HEAD_BYTES_MAX) throw TOO_LONG;
    const text = bytes.toString('latin1', 0, end + LINE_END.length);
    const firstEnd = text.indexOf('\r\n');
    if (!STATUS_LINE.test(text.slice(0, firstEnd))) throw NO_STATUS_LINE;
    const fields = text.slice(firstEnd + LINE_END.length);
    if (!FIELDS.test(fields)) throw BAD_FIELD;
    const status = Number(text.slice(9, 12));
    const rest = bytes.subarray(end + HEAD_END.length);
    if (status === 101) throw CHANGED_PROTOCOL;
    if (status < 200) return rest;
    const headers = parsed(fields);
    this.frame(status, headers, text.charCodeAt(7) === ONE);
    sink.onHead(status, headers);
    return rest;
  }

  /** How the end of the body is told (RFC 9112, section 6.3), and whether the connection outlives it (section 9.3). */
  private frame(status: number, headers: Record<string, string>, isOneOne: boolean): void {
    const { connection, 'content-length': length, 'transfer-encoding': coding, 'keep-alive': kept } = headers;
    const options = connection === undefined ? [] : connection.toLowerCase().split(/[\t ]*,[\t ]*/);
    // Some answer a HEAD with a body all the same, which would be taken for the answer to what comes next.
    this.isPersistent = !this.isOfHead && !options.includes('close') && (isOneOne || options.includes('keep-alive'));
    const timeout = kept === undefined ? null : KEEP_ALIVE_TIMEOUT.exec(kept)?.[1];
    this.keepAliveMs = timeout == null ? null : Number(timeout) * 1000 - TIMEOUT_MARGIN_MS;
    if (this.keepAliveMs !== null && this.keepAliveMs <= 0) this.isPersistent = false;
    if (coding !== undefined && length !== undefined) throw TWO_LENGTHS;
    if (length !== undefined && !LENGTH.test(length)) throw BAD_LENGTH;
    if (this.isOfHead || status === 204 || status === 304) {
      this.stage = 'complete';
    } else if (coding !== undefined && LAST_IS_CHUNKED.test(coding)) {
      this.stage = 'chunk-size';
    } else if (coding === undefined && length !== undefined) {
      this.left = Number(length);
      this.stage = this.left === 0 ? 'complete' : 'counted';
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
    if (end === -1 && bytes.length <= CHUNK_LINE_BYTES_MAX) return this.hold(bytes);
    const size = end === -1 || end > CHUNK_LINE_BYTES_MAX ? null : CHUNK_LINE.exec(bytes.toString('latin1', 0, end));
    if (size === null) throw BAD_CHUNK;
    this.left = Number.parseInt(size[1] as string, 16);
    this.stage = this.left === 0 ? 'trailers' : 'chunk';
    return bytes.subarray(end + LINE_END.length);
  }

  private chunkEnd(bytes: Buffer): Buffer | null {
    if (bytes.length === 1 && bytes[0] === CR) return this.hold(bytes);
    if (bytes[0] !== CR || bytes[1] !== LF) throw BAD_CHUNK;
    this.stage = 'chunk-size';
    return bytes.subarray(LINE_END.length);
  }

  /** Passed over: nobody asked for them (RFC 9110, section 6.5.1). */
  private trailers(bytes: Buffer): Buffer | null {
    const isEmpty = bytes[0] === CR && (bytes.length === 1 || bytes[1] === LF);
    const end = isEmpty ? bytes.indexOf(LINE_END) : bytes.indexOf(HEAD_END);
    if (end === -1 && bytes.length <= TRAILER_BYTES_MAX) return this.hold(bytes);
    if (end === -1 || end > TRAILER_BYTES_MAX) throw TOO_LONG;
    const length = isEmpty ? 0 : end + LINE_END.length;
    const fields = bytes.toString('latin1', 0, length);
    if (!FIELDS.test(fields) || FRAMING.test(fields)) throw BAD_FIELD;
    this.stage = 'complete';
    return bytes.subarray(length + LINE_END.length);
  }

  /** What cannot become a head is told from one that has not come yet: nobody is to wait for the end of something else. */
  private holdHead(bytes: Buffer): null {
    if (bytes.length > HEAD_BYTES_MAX) throw TOO_LONG;
    const text = bytes.toString('latin1', 0, bytes.length);
    const firstEnd = text.indexOf('\r\n');
    const isBegun = firstEnd === -1 ? text.startsWith(BEGINNING.slice(0, text.length)) : STATUS_LINE.test(text.slice(0, firstEnd));
    if (!isBegun) throw NO_STATUS_LINE;
    if (BARE_LINE_FEED.test(text)) throw BAD_FIELD;
    return this.hold(bytes);
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
const ONE = 49;

const NO_STATUS_LINE = new BadAnswer('it does not begin with a status line');
const BAD_FIELD = new BadAnswer('a line of its head is no header');
const TOO_LONG = new BadAnswer('its headers are longer than 16 KB');
const TWO_LENGTHS = new BadAnswer('it has a content-length and a transfer-encoding');
const BAD_LENGTH = new BadAnswer('its content-length is not one number');
const BAD_CHUNK = new BadAnswer('a chunk of its body does not begin with its length, or does not end there');
const CHANGED_PROTOCOL = new BadAnswer('it changes the protocol (101), which nobody asked for');

/** Of lines that are known to be headers. Without a prototype: a name may be any word. */
function parsed(fields: string): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (let at = 0; at < fields.length; ) {
    const colon = fields.indexOf(':', at);
    const end = fields.indexOf('\r\n', colon);
    const name = fields.slice(at, colon).toLowerCase();
    const value = withoutBlanks(fields, colon + 1, end);
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
    at = end + LINE_END.length;
  }
  return headers;
}

/** Around a value are blanks and tabs (RFC 9112, section 5) and not what JavaScript trims besides. */
function withoutBlanks(text: string, from: number, to: number): string {
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

const isBlank = (code: number): boolean => code === 32 || code === 9;
