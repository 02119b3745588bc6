import net from 'node:net';
import { DIGITS, MARK, SPREAD, writeNumber } from './protocol.mjs';

const READ_BYTES = 16_384;
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const UUID_DIGITS = 12;
const UUID = `00000000-0000-4000-8000-${'0'.repeat(UUID_DIGITS)}`;

/**
 * Returns the bytes of a POST request, and the offsets of the parts that differ between messages. `%%%%` in the path
 * stands for one of `spread` numbers.
 *
 * @typedef {{ bytes: Buffer, numberAt: number, keyAt: number, spread: number, spreadAt: number }} Template
 *
 * @param {{ path: string, headers: Record<string, string>, body: string, hasKey: boolean, spread?: number }} request
 * @returns {Template}
 */
export function template({ path, headers, body, hasKey, spread = 0 }) {
  const length = String(Buffer.byteLength(body));
  const fields = { host: 'localhost', 'content-type': 'application/json', ...headers, 'content-length': length };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\n${lines.join('')}${hasKey ? `idempotency-key: ${UUID}\r\n` : ''}\r\n`;
  const bytes = Buffer.from(head + body);
  const keyAt = hasKey ? bytes.indexOf(UUID) + UUID.length - UUID_DIGITS : -1;
  return { bytes, numberAt: bytes.indexOf(MARK) + 1, keyAt, spread, spreadAt: bytes.indexOf(SPREAD) };
}

/**
 * A keep-alive connection that sends one request at a time. It uses a raw socket, which needs a third of the CPU time
 * of `node:http`. Status 0 means that the connection broke before the answer.
 */
export class Connection {
  /** Number of the message in flight. */
  number = 0;
  #bytes;
  #isBusy = false;
  #isClosed = false;
  /** @type {net.Socket | null} */
  #socket = null;
  /** @type {Buffer | null} */
  #pending = null;

  /**
   * @param {number} port @param {Template} template @param {(connection: Connection, status: number) => void} onAnswer
   */
  constructor(port, template, onAnswer) {
    this.port = port;
    this.template = template;
    this.onAnswer = onAnswer;
    this.#bytes = Buffer.from(template.bytes);
    this.#socket = this.#connect();
  }

  /** @param {number} number */
  send(number) {
    this.number = number;
    this.#isBusy = true;
    const { numberAt, keyAt, spread, spreadAt } = this.template;
    writeNumber(this.#bytes, numberAt, number, DIGITS);
    if (keyAt >= 0) writeNumber(this.#bytes, keyAt, number, UUID_DIGITS);
    if (spread > 0) writeNumber(this.#bytes, spreadAt, number % spread, SPREAD.length);
    this.#socket ??= this.#connect();
    // The requests can share this buffer, because each request is sent only after the answer to the previous one.
    this.#socket.write(this.#bytes);
  }

  close() {
    this.#isClosed = true;
    this.#socket?.destroy();
  }

  #connect() {
    const callback = (/** @type {number} */ length, /** @type {Uint8Array} */ buffer) => {
      this.#read(/** @type {Buffer} */ (buffer).subarray(0, length));
      return true;
    };
    const onread = { buffer: Buffer.allocUnsafe(READ_BYTES), callback };
    const socket = net.connect({ host: '127.0.0.1', port: this.port, noDelay: true, onread });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#drop());
    return socket;
  }

  /** @param {Buffer} received */
  #read(received) {
    const chunk = this.#pending === null ? received : Buffer.concat([this.#pending, received]);
    this.#pending = null;
    const headEnd = chunk.indexOf(HEAD_END);
    const length = headEnd < 0 ? null : LENGTH.exec(chunk.toString('latin1', 0, headEnd));
    if (headEnd >= 0 && length === null)
      throw new Error(`Answer without a content-length: ${chunk.toString('latin1', 0, headEnd)}`);
    if (length === null || chunk.length < headEnd + HEAD_END.length + Number(length[1])) {
      this.#pending = Buffer.from(chunk); // copies, because the read buffer is reused
      return;
    }
    this.#answered(Number(chunk.toString('latin1', 9, 12)));
  }

  #drop() {
    this.#socket = null;
    this.#pending = null;
    if (this.#isBusy && !this.#isClosed) this.#answered(0);
  }

  /** @param {number} status */
  #answered(status) {
    this.#isBusy = false;
    this.onAnswer(this, status);
  }
}
