import type { Dispatcher } from 'undici';
import { ExchangeEnded, explain, isBrokenConnection } from './failure.js';
import type { EgressFailure } from './failure.js';
import type { Connection, OriginPool, Tenant } from './origin-pool.js';

export interface EgressRequest {
  method: string;
  url: URL;
  /** `host` and `accept-encoding` are not sent: the first is the URL's, the second would invite compressed bodies. */
  headers: Record<string, string>;
  body: string | Buffer | null;
  /** For the whole exchange: waiting for a connection, DNS, TCP, TLS, request and the complete body of the answer. */
  timeoutMs: number;
  /** A longer body is cut here and its connection dropped. */
  bodyBytesMax: number;
  signal?: AbortSignal;
  /** Asked when a connection is there and nothing is sent yet: false ends the exchange unsent. The wait may have been longer than the caller's right to send. */
  mayBegin?: () => boolean;
}

export type EgressAnswer =
  | {
    kind: 'response';
    status: number;
    /** Names in lower case; a repeated header is joined with ", ". */
    headers: Record<string, string>;
    body: Buffer;
    truncated: boolean;
    durationMs: number;
  }
  | { kind: 'error'; error: EgressFailure; detail: string; durationMs: number };

/** One request and its answer, from the deadline being set to the connection being given back. The hot path. */
export class Exchange implements Dispatcher.DispatchHandler, Tenant {
  isSettled = false;
  private readonly timer: NodeJS.Timeout;
  private connection: Connection | null = null;
  private controller: Dispatcher.DispatchController | null = null;
  private isAnswering = false;
  private status = 0;
  private headers: Record<string, string> = NO_HEADERS;
  private body: Buffer = NO_BODY;
  private chunks: Buffer[] | null = null;
  private bodyBytes = 0;

  constructor(
    private readonly request: EgressRequest,
    private readonly pool: OriginPool,
    private readonly startedAt: number,
    private readonly resolve: (answer: EgressAnswer) => void,
  ) {
    this.timer = setTimeout(onDeadline, request.timeoutMs, this);
    request.signal?.addEventListener('abort', this);
  }

  /** The caller's signal (as an EventListenerObject, which needs no closure). */
  handleEvent(): void {
    this.end(CANCELLED);
  }

  /** Answers now with this error; the connection is given back when undici has let go of it. */
  end(error: Error): void {
    this.fail(error);
    // Without a controller the request is not on the wire yet: onRequestStart will turn it away.
    this.controller?.abort(error);
  }

  expire(): void {
    const { timeoutMs } = this.request;
    // Errors that are shown to nobody with their stacks are made by undici, too, a few for each receiver that hangs.
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
    connection.interim.expectAnswer();
    const { url, method, body, headers } = this.request;
    connection.client.dispatch(
      { path: url.pathname + url.search, method: method, body, headers: sendable(headers) },
      this,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown, not aborted: an abort would close a connection that has done nothing wrong.
    if (this.isSettled) throw new ExchangeEnded('timeout', 'Answered before it was sent.');
    if (this.request.mayBegin?.() === false) throw WITHHELD;
    this.controller = controller;
  }

  /** The first byte of an answer, even if it never becomes a status line. */
  onResponseStarted(): void {
    this.isAnswering = true;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: object): void {
    // 101 without an Upgrade: undici gives the final one in another call.
    if (status < 200) return;
    this.status = status;
    this.headers = flat(headers as Record<string, string | string[]>);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isSettled) return;
    const room = this.request.bodyBytesMax - this.bodyBytes;
    const taken = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.bodyBytes += taken.length;
    if (this.chunks !== null) this.chunks.push(taken);
    else if (this.body.length === 0) this.body = taken;
    else this.chunks = [this.body, taken];
    if (chunk.length > room) {
      this.respond(true);
      controller.abort(new ExchangeEnded('protocol', 'The body is longer than what is read of it.'));
    }
  }

  onResponseEnd(): void {
    if (this.connection !== null) this.connection.served += 1;
    this.respond(false);
    this.release();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.controller = null;
    if (this.mayRetry(error)) {
      // undici is still taking the broken socket down; after that the same client opens a fresh one.
      setImmediate(onRetry, this);
      return;
    }
    this.fail(error);
    this.release();
  }

  /** On the connection it has kept, which is closed and therefore opened anew. */
  retry(): void {
    if (this.connection !== null) this.occupy(this.connection);
  }

  /**
   * A server may close a kept-alive connection while our request is under way to it. Nothing was answered, and
   * delivery is at least once, so the request is sent again. That happens once: the second connection is a fresh one,
   * which has served nothing, and if it breaks, too, the failure is real.
   */
  private mayRetry(error: Error): boolean {
    return !this.isSettled && !this.isAnswering
      && this.connection !== null && this.connection.served > 0 && !this.connection.interim.isSeen && isBrokenConnection(error);
  }

  private respond(truncated: boolean): void {
    const body = this.chunks === null ? this.body : Buffer.concat(this.chunks, this.bodyBytes);
    this.settle({ kind: 'response', status: this.status, headers: this.headers, body, truncated, durationMs: this.elapsedMs() });
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
    this.controller = null;
    this.pool.release(connection, performance.now());
  }

  private elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  private stage(): string {
    if (this.connection === null) return 'every connection to the receiver was in use';
    if (this.controller === null) return 'the connection was not established';
    return this.status === 0 ? 'the receiver did not answer' : 'the body of the answer did not end';
  }
}

const WITHHELD = new ExchangeEnded('connection', 'The request was not sent: whoever asked for it may not send it any more.');

export const CANCELLED = new ExchangeEnded('connection', 'The exchange was cancelled before it was complete.');

const NO_HEADERS: Record<string, string> = Object.freeze({});
const NO_BODY = Buffer.alloc(0);

const onDeadline = (exchange: Exchange): void => exchange.expire();
const onRetry = (exchange: Exchange): void => exchange.retry();

function sendable(headers: Record<string, string>): Record<string, string> {
  for (const name in headers) {
    if (isOurs(name)) return Object.fromEntries(Object.entries(headers).filter(([each]) => !isOurs(each)));
  }
  return headers;
}

/** The lengths spare almost every header the comparison. */
function isOurs(name: string): boolean {
  return (name.length === 4 && name.toLowerCase() === 'host') || (name.length === 15 && name.toLowerCase() === 'accept-encoding');
}

function flat(headers: Record<string, string | string[]>): Record<string, string> {
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'object') headers[name] = value.join(', ');
  }
  return headers as Record<string, string>;
}
