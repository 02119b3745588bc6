import type { Socket } from 'node:net';
import { AnswerReader, type AnswerSink } from './answer-reader.js';
import type { Connect } from './dial.js';
import { BadAnswer, ConnectionLost } from './failure.js';
import type { RequestHead } from './request-head.js';

/** One request and its answer, as a connection sees it. */
export interface Carried extends AnswerSink {
  readonly method: string;
  readonly head: RequestHead;
  readonly body: string | Buffer | null;
  /** The connection is open and nothing is sent: null to send it, or why not. */
  begins(): Error | null;
  /** Something came, even if it never becomes a status line. */
  onBytes(): void;
  /** The answer is complete. */
  onEnd(): void;
  /** There will be no answer, or no more of it. */
  onFailed(error: Error): void;
}

export interface ConnectionOptions {
  origin: URL;
  connect: Connect;
  /** The connection has ended while nothing was carried. */
  onLost: (connection: Connection) => void;
}

/** Up to here head and body are joined: copying more costs more than a second piece. */
const JOINED_LENGTH_MAX = 16_384;

/** Head and body as one string; null where that is not what is sent, or would cost more than two writes. */
function joined({ text, isAscii }: RequestHead, body: string | Buffer | null): string | null {
  if (!isAscii || (body !== null && (typeof body !== 'string' || body.length > JOINED_LENGTH_MAX))) return null;
  return body === null ? text : text + body;
}

const LOST = new ConnectionLost('The receiver closed the connection.');

/**
 * One connection at a time to one origin, opened when it is needed and again when it was closed, that carries one request
 * at a time. What it costs is on the path of every delivery, which is why it is ours: a request is one write, an
 * answer one parse, and neither has a timer or a promise.
 */
export class Connection {
  /** Answers that were complete on the socket that is open now. */
  served = 0;
  /** By the monotonic clock, in milliseconds. */
  openedAt = 0;
  idleAt = 0;
  isRetired = false;
  private socket: Socket | null = null;
  private carried: Carried | null = null;
  private ended: Error | null = null;
  private readonly reader = new AnswerReader();

  constructor(private readonly options: ConnectionOptions) {}

  get isOpen(): boolean {
    return this.socket !== null;
  }

  /** How long the server keeps it when it is idle, in milliseconds, if it said so. */
  get keepAliveMs(): number | null {
    return this.reader.keepAliveMs;
  }

  /** Carries it, once the connection is open. One at a time. Tells it of failures later, never within the call. */
  begin(carried: Carried): void {
    this.carried = carried;
    if (this.ended !== null) this.failLater(this.ended);
    else if (this.socket !== null) this.send(this.socket, carried);
    else this.open();
  }

  /** Breaks off what it carries, if anything, and closes. It opens again for what comes next. */
  abort(error: Error): void {
    this.discard();
    this.fail(error);
  }

  /** As `abort`, for good. */
  destroy(error: Error): void {
    this.ended = error;
    this.abort(error);
  }

  private open(): void {
    const { protocol, hostname, port } = this.options.origin;
    const origin = { protocol, hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname, port };
    this.options.connect(origin, (error, socket) => {
      if (error !== null) this.fail(error);
      else if (this.ended !== null) socket.destroy();
      else this.opened(socket);
    });
  }

  private opened(socket: Socket): void {
    this.socket = socket;
    this.openedAt = performance.now();
    const lost = (error: Error): void => {
      if (this.socket === socket) this.lose(error);
    };
    socket.on('data', (chunk: Buffer) => {
      if (this.socket === socket) this.read(chunk);
    });
    socket.on('end', () => {
      if (this.socket === socket && this.carried !== null && this.reader.end()) this.complete(this.carried);
      else lost(LOST);
    });
    socket.on('error', lost);
    socket.on('close', () => lost(LOST));
    if (this.carried !== null) this.send(socket, this.carried);
  }

  private send(socket: Socket, carried: Carried): void {
    const { method, head, body } = carried;
    const refusal = carried.begins();
    if (refusal !== null) return this.failLater(refusal);
    this.reader.expect(method === 'HEAD');
    const message = joined(head, body);
    if (message !== null) {
      socket.write(message);
      return;
    }
    socket.cork();
    socket.write(head.text, 'latin1');
    if (body !== null && body.length > 0) socket.write(body);
    socket.uncork();
  }

  private read(chunk: Buffer): void {
    const { carried } = this;
    // Nobody asked for anything: whatever it is, what follows it would be taken for an answer to something else.
    if (carried === null) return this.lose(LOST);
    carried.onBytes();
    let isComplete: boolean;
    try {
      isComplete = this.reader.read(chunk, carried);
    } catch (error) {
      if (!(error instanceof BadAnswer)) throw error;
      if (this.carried === carried) this.lose(error);
      return;
    }
    if (isComplete && this.carried === carried) this.complete(carried);
  }

  private complete(carried: Carried): void {
    this.carried = null;
    this.served += 1;
    // What answers before it has read the request goes on reading it as the next one.
    if (!this.reader.isPersistent || this.socket?.writableLength !== 0) this.discard();
    carried.onEnd();
  }

  private lose(error: Error): void {
    const isIdle = this.carried === null;
    this.discard();
    this.fail(error);
    // Not before: who is told asks whether a server may have closed what it had kept.
    this.served = 0;
    if (isIdle) this.options.onLost(this);
  }

  private fail(error: Error): void {
    const { carried } = this;
    this.carried = null;
    carried?.onFailed(error);
  }

  private failLater(error: Error): void {
    const carried = this.carried as Carried;
    this.carried = null;
    queueMicrotask(() => carried.onFailed(error));
  }

  private discard(): void {
    const { socket } = this;
    this.socket = null;
    socket?.destroy();
  }
}
