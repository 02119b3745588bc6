import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';

/** The shortest beginning that tells one, and what it looks like. 101 is none: it would change the protocol, and nobody asked for that. */
const BEGINNING = 'HTTP/1.1 100';
const INTERIM = /^HTTP\/1\.[01] 1(?:0[02-9]|[1-9]\d)/;
const HEAD_END = Buffer.from('\r\n\r\n');
/** As much as of a final answer's head; what is longer is left to undici, which refuses it. */
const HEAD_BYTES_MAX = 16_384;

/**
 * Passes over what a server says before its answer (1xx; RFC 9110, section 15.2, asks for it even where nothing was
 * expected): undici takes a `100 Continue` that it did not ask for as the end of the connection.
 *
 * One request at a time is on a connection, so the first bytes after it are the beginning of its answer.
 */
export class InterimAnswers {
  /** Whether one came for the request that is under way, or began to: the server has seen it. */
  isSeen = false;
  private isAtBeginning = true;
  private held: Buffer | null = null;

  /** A request is about to be sent. */
  expectAnswer(): void {
    this.isSeen = false;
    this.isAtBeginning = true;
    this.held = null;
  }

  /** What undici may read of these bytes; null for none yet. */
  pass(chunk: Buffer): Buffer | null {
    if (!this.isAtBeginning) return chunk;
    let bytes = this.held === null ? chunk : Buffer.concat([this.held, chunk]);
    this.held = null;
    while (mayBeInterim(bytes) && bytes.length <= HEAD_BYTES_MAX) {
      this.isSeen = true;
      const end = bytes.indexOf(HEAD_END);
      if (end === -1) {
        this.held = bytes;
        return null;
      }
      bytes = bytes.subarray(end + HEAD_END.length);
      if (bytes.length === 0) return null;
    }
    this.isAtBeginning = false;
    return bytes;
  }
}

/** Puts `answers` between a socket and whoever reads from it. */
export function readThrough(socket: Socket, answers: InterimAnswers): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  socket.read = (size?: number): Buffer | null => {
    // Node itself reads nothing (0), to have the next bytes come.
    if (size === 0) return read(0);
    for (let chunk = read(size); chunk !== null; chunk = read(size)) {
      const passed = answers.pass(chunk);
      if (passed !== null) return passed;
    }
    return null;
  };
}

/** With what is missing of the beginning filled in, so that one that comes in pieces is waited for, and garbage is not. */
function mayBeInterim(bytes: Buffer): boolean {
  const text = bytes.subarray(0, BEGINNING.length).toString('latin1');
  return INTERIM.test(text + BEGINNING.slice(text.length));
}
