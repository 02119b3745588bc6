import type { Socket } from 'node:net';
import { AnswerReader, type AnswerSink } from './answer-reader.js';
import type { Connect } from './dial.js';
import { BadAnswer, ConnectionLost } from './failure.js';
import type { RequestHead } from './request-head.js';

export interface Carried extends AnswerSink {
  readonly method: string;
  readonly head: RequestHead;
  readonly body: string | Buffer | null;
  /**
   * Called when the connection is open. Returns null if the request may be sent, otherwise an error with the reason.
   */
  begins(): Error | null;
  /** Called when bytes arrive, even if they never become a status line. */
  onBytes(): void;
  onEnd(): void;
  onFailed(error: Error): void;
}

export interface ConnectionOptions {
  origin: URL;
  connect: Connect;
  /** Called when the connection ends while it is idle. */
  onLost: (connection: Connection) => void;
}

/** Maximum length of a body that is joined with the head. For a longer body, a second write is cheaper than a copy. */
const JOINED_LENGTH_MAX = 16_384;

/** Returns head and body as one string. Returns null if the text is not ASCII, or if two writes are cheaper. */
function joined({ text, isAscii }: RequestHead, body: string | Buffer | null): string | null {
  if (!isAscii || (body !== null && (typeof body !== 'string' || body.length > JOINED_LENGTH_MAX))) return null;
  return body === null ? text : text + body;
}

const LOST = new ConnectionLost('The receiver closed the connection.');

/**
 * Connection that carries one request at a time. Opens its socket on demand and reopens it after a close.
 *
 * Uses no HTTP library, to reduce the overhead per delivery: a request takes one write, and a response is parsed once,
 * without a timer or a promise.
 */
export class Connection {
  served = 0;
  /** Time of opening on the monotonic clock, in milliseconds. */
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

  /**
   * Time for which the server keeps the idle connection open, in milliseconds. Null if the server did not announce a
   * time.
   */
  get keepAliveMs(): number | null {
    return this.reader.keepAliveMs;
  }

  /**
   * Begins a request. The caller must ensure that no other request is in progress. Reports failures asynchronously,
   * never within the call.
   */
  begin(carried: Carried): void {
    this.carried = carried;
    if (this.ended !== null) this.failLater(this.ended);
    else if (this.socket !== null) this.send(this.socket, carried);
    else this.open();
  }

  /** Aborts the current request, if any, and closes the socket. The next request opens it again. */
  abort(error: Error): void {
    this.discard();
    this.fail(error);
  }

  /** Aborts the current request, if any, and closes the socket permanently. All later requests fail with `error`. */
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
    // Closes the connection. Bytes that arrive while no request is in progress could otherwise be parsed as the
    // response to the next request.
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
    // Closes the socket if the server has not read the whole request, because the server would parse the rest as the
    // next request.
    if (!this.reader.isPersistent || this.socket?.writableLength !== 0) this.discard();
    carried.onEnd();
  }

  private lose(error: Error): void {
    const isIdle = this.carried === null;
    this.discard();
    this.fail(error);
    // Reset after `onFailed`, which uses `served` to decide about a retry.
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
