import { Connection } from './connection.js';
import type { Connect } from './dial.js';
import { ExchangeEnded } from './failure.js';

/** An exchange that waits for a connection. `isSettled`: the exchange has already ended and needs no connection. */
export interface PooledExchange {
  readonly isSettled: boolean;
  occupy(connection: Connection): void;
  end(error: Error): void;
}

export interface OriginPoolOptions {
  url: URL;
  connect: Connect;
  connectionsMax: number;
  idleMs: number;
  /** Called when the last connection is closed and no exchange is waiting. */
  onEmpty: (pool: OriginPool) => void;
}

/**
 * Pool of the connections to one origin. Prefers the most recently used connection, so that surplus connections become
 * idle and are closed. Connections that are being opened count toward `connectionsMax`. A retry opens a new socket,
 * because the other idle connections may be stale too.
 */
export class OriginPool {
  /** Time of the last use on the monotonic clock, in milliseconds. */
  usedAt = 0;
  private readonly free: Connection[] = [];
  private readonly all = new Set<Connection>();
  private readonly waiting: PooledExchange[] = [];
  private isClosed = false;
  private look: NodeJS.Timeout | null = null;
  private looksAt = Infinity;
  readonly origin: string;
  private readonly url: URL;

  constructor(private readonly options: OriginPoolOptions) {
    this.origin = options.url.origin;
    this.url = new URL(this.origin);
  }

  get connections(): number {
    return this.all.size;
  }

  get inFlight(): number {
    return this.all.size - this.free.length + this.waiting.length;
  }

  /** Assigns a connection to the exchange as soon as one is free. The exchange must return it with `release`. */
  admit(pooledExchange: PooledExchange, now: number): void {
    this.usedAt = now;
    const connection = this.free.pop() ?? this.open();
    if (connection === null) this.waiting.push(pooledExchange);
    else pooledExchange.occupy(connection);
  }

  release(connection: Connection, now: number): void {
    connection.idleAt = now;
    const isOld = now - connection.openedAt > CONNECTION_AGE_MAX_MS;
    if (connection.isOpen && !isOld && !this.isClosed) this.free.push(connection);
    else this.retire(connection);
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      if (!next.isSettled) return this.admit(next, now);
    }
    if (connection.isRetired) this.reportIfEmpty();
    else this.lookAt(this.idleEndOf(connection), now);
  }

  /** Closes the idle connections now, and the connections in use when they are released. */
  close(): void {
    this.isClosed = true;
    for (const connection of [...this.free]) this.retire(connection);
    this.reportIfEmpty();
  }

  /** Destroys every connection. Exchanges that use or wait for a connection fail with `error`. */
  destroy(error: Error): void {
    for (const tenant of this.waiting.splice(0)) tenant.end(error);
    this.close();
    for (const connection of [...this.all]) connection.destroy(error);
  }

  private open(): Connection | null {
    if (this.all.size >= this.options.connectionsMax) return null;
    const connection = new Connection({
      origin: this.url,
      connect: this.options.connect,
      onLost: (lost) => this.retire(lost),
    });
    this.all.add(connection);
    return connection;
  }

  /**
   * Returns the time at which an idle connection is closed. Connections must not stay open forever, because addresses
   * are checked only when a connection is opened.
   */
  private idleEndOf({ idleAt, keepAliveMs }: Connection): number {
    return idleAt + Math.min(this.options.idleMs, keepAliveMs ?? Infinity);
  }

  /** Schedules the closing of idle connections with one shared timer, because a timer per request is expensive. */
  private lookAt(at: number, now: number): void {
    if (at >= this.looksAt) return;
    if (this.look !== null) clearTimeout(this.look);
    this.looksAt = at;
    // Rounded up: a timer that fires a fraction of a millisecond too early would find no idle connection to close.
    this.look = setTimeout(() => this.closeIdle(performance.now()), Math.ceil(at - now)).unref();
  }

  private closeIdle(now: number): void {
    this.look = null;
    this.looksAt = Infinity;
    for (const connection of [...this.free]) {
      if (this.idleEndOf(connection) <= now) this.retire(connection);
    }
    for (const connection of this.free) this.lookAt(this.idleEndOf(connection), now);
  }

  private retire(connection: Connection): void {
    if (connection.isRetired) return;
    connection.isRetired = true;
    const index = this.free.lastIndexOf(connection);
    if (index !== -1) this.free.splice(index, 1);
    this.all.delete(connection);
    connection.destroy(RETIRED);
    this.reportIfEmpty();
  }

  private reportIfEmpty(): void {
    if (this.all.size > 0 || this.waiting.length > 0) return;
    if (this.look !== null) clearTimeout(this.look);
    this.look = null;
    this.looksAt = Infinity;
    this.options.onEmpty(this);
  }
}

/** Maximum age of a connection. After it, a new connection resolves the name again, in case the receiver has moved. */
const CONNECTION_AGE_MAX_MS = 60_000;
const RETIRED = new ExchangeEnded('connection', 'The connection is retired.');
