import type { Carried, Connection } from './connection.js';
import type { EgressFailure } from './failure.js';
import { ExchangeEnded, explain, isBrokenConnection } from './failure.js';
import type { OriginPool, PooledExchange } from './origin-pool.js';
import type { RequestHead } from './request-head.js';

export interface EgressRequest {
  method: string;
  url: URL;
  /**
   * Headers to send. `host` is derived from the URL. `accept-encoding` is omitted, because bodies are not decompressed.
   */
  headers: Record<string, string>;
  body: string | Buffer | null;
  /** Time limit of the whole exchange: wait for a connection, DNS, TCP, TLS, request, and complete response body. */
  timeoutMs: number;
  /** Maximum length of the response body. A longer body is truncated, and its connection is closed. */
  bodyBytesMax: number;
  signal?: AbortSignal;
  /** Called when the connection is open, before the request is sent. If it returns false, nothing is sent. */
  mayBegin?: () => boolean;
}

export type EgressAnswer =
  | {
      kind: 'response';
      status: number;
      /** Response headers. Names are in lower case. Values of a repeated header are joined with ", ". */
      headers: Record<string, string>;
      body: Buffer;
      truncated: boolean;
      durationMs: number;
    }
  | { kind: 'error'; error: EgressFailure; detail: string; durationMs: number };

/** One request and its response, from setting the deadline until the connection is released. This is a hot path. */
export class Exchange implements Carried, PooledExchange {
  isSettled = false;
  private readonly timer: NodeJS.Timeout;
  private connection: Connection | null = null;
  private isSent = false;
  private isAnswering = false;
  private status = 0;
  private headers: Record<string, string> = NO_HEADERS;
  private received: Buffer = NO_BODY;
  private chunks: Buffer[] | null = null;
  private bodyBytes = 0;

  constructor(
    private readonly request: EgressRequest,
    readonly head: RequestHead,
    private readonly pool: OriginPool,
    private readonly startedAt: number,
    private readonly resolve: (answer: EgressAnswer) => void,
  ) {
    this.timer = setTimeout(onDeadline, request.timeoutMs, this);
    request.signal?.addEventListener('abort', this);
  }

  /** Handles the caller's abort signal. An EventListenerObject needs no closure per exchange. */
  handleEvent(): void {
    this.end(CANCELLED);
  }

  get method(): string {
    return this.request.method;
  }

  get body(): string | Buffer | null {
    return this.request.body;
  }

  /** Ends the exchange immediately. A connection that is still being opened is released once it is open. */
  end(error: Error): void {
    this.fail(error);
    if (this.isSent) this.connection?.abort(error);
  }

  expire(): void {
    const { timeoutMs } = this.request;
    // Creates the error without a stack trace. Every timeout creates an error, and capturing a trace would cost more
    // than the rest of this method.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      this.end(new ExchangeEnded('timeout', `There was no complete answer within ${timeoutMs} ms: ${this.stage()}.`));
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  occupy(connection: Connection): void {
    this.connection = connection;
    connection.begin(this);
  }

  begins(): Error | null {
    if (this.isSettled) return TOO_LATE;
    if (this.request.mayBegin?.() === false) return WITHHELD;
    this.isSent = true;
    return null;
  }

  onBytes(): void {
    this.isAnswering = true;
  }

  onHead(status: number, headers: Record<string, string>): void {
    this.status = status;
    this.headers = headers;
  }

  onBody(bytes: Buffer): boolean {
    const room = this.request.bodyBytesMax - this.bodyBytes;
    const taken = bytes.length > room ? bytes.subarray(0, room) : bytes;
    this.bodyBytes += taken.length;
    if (this.chunks !== null) this.chunks.push(taken);
    else if (this.received.length === 0) this.received = taken;
    else this.chunks = [this.received, taken];
    if (bytes.length <= room) return true;
    this.respond(true);
    this.connection?.abort(CUT);
    return false;
  }

  onEnd(): void {
    this.respond(false);
    this.release();
  }

  onFailed(error: Error): void {
    this.isSent = false;
    if (this.mayRetry(error)) {
      // Waits until the connection has discarded the broken socket. The retry then opens a new socket.
      setImmediate(onRetry, this);
      return;
    }
    this.fail(error);
    this.release();
  }

  /** Retries on the same connection. It opens a new socket, because the old one is closed. */
  retry(): void {
    if (this.connection !== null) this.occupy(this.connection);
  }

  /**
   * Returns whether to retry the request. A server may close a kept-alive connection while a request is in flight. If
   * no response arrived, one retry is allowed, because delivery is at least once. The retry uses a new socket, so a
   * second failure is final.
   */
  private mayRetry(error: Error): boolean {
    return (
      !this.isSettled &&
      !this.isAnswering &&
      this.connection !== null &&
      this.connection.served > 0 &&
      isBrokenConnection(error)
    );
  }

  private respond(truncated: boolean): void {
    const body = this.chunks === null ? this.received : Buffer.concat(this.chunks, this.bodyBytes);
    this.settle({
      kind: 'response',
      status: this.status,
      headers: this.headers,
      body,
      truncated,
      durationMs: this.elapsedMs(),
    });
  }

  private fail(error: Error): void {
    if (this.isSettled) return;
    const { error: failure, detail } = explain(error);
    this.settle({ kind: 'error', error: failure, detail, durationMs: this.elapsedMs() });
  }

  private settle(answer: EgressAnswer): void {
    if (this.isSettled) return;
    this.isSettled = true;
    clearTimeout(this.timer);
    this.request.signal?.removeEventListener('abort', this);
    this.resolve(answer);
  }

  private release(): void {
    const { connection } = this;
    if (connection === null) return;
    this.connection = null;
    this.pool.release(connection, performance.now());
  }

  private elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  private stage(): string {
    if (this.connection === null) return 'every connection to the receiver was in use';
    if (!this.isSent) return 'the connection was not established';
    return this.status === 0 ? 'the receiver did not answer' : 'the body of the answer did not end';
  }
}

const TOO_LATE = new ExchangeEnded('timeout', 'Already resolved before the request was sent.');
const CUT = new ExchangeEnded('protocol', 'The body exceeds the read limit.');
const WITHHELD = new ExchangeEnded('connection', 'The request was not sent: the caller may no longer send it.');

export const CANCELLED = new ExchangeEnded('connection', 'The exchange was canceled before it was complete.');

const NO_HEADERS: Record<string, string> = Object.freeze({});
const NO_BODY = Buffer.alloc(0);

const onDeadline = (exchange: Exchange): void => exchange.expire();
const onRetry = (exchange: Exchange): void => exchange.retry();
