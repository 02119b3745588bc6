import { Connection } from './connection.js';
import type { Connect } from './dial.js';
import { ExchangeEnded } from './failure.js';

/** What waits for a connection. `isSettled`: it has been answered meanwhile and wants none any more. */
export interface PooledExchange {
  readonly isSettled: boolean;
  occupy(connection: Connection): void;
  end(error: Error): void;
}

export interface OriginPoolOptions {
  /** Of which nothing but the origin is used. */
  url: URL;
  connect: Connect;
  connectionsMax: number;
  idleMs: number;
  /** Called when the last connection is gone and nobody waits. */
  onEmpty: (pool: OriginPool) => void;
}

/**
 * The connections of one origin: at most `connectionsMax`, the last used first, so that the ones too many fall idle
 * and close. The bound holds when connects fail, too, and a retry has a fresh connection and not the next stale one.
 */
export class OriginPool {
  /** By the monotonic clock, in milliseconds. */
  usedAt = 0;
  private readonly free: Connection[] = [];
  private readonly all = new Set<Connection>();
  private readonly waiting: PooledExchange[] = [];
  private isClosed = false;
  /** The next look at what is idle. */
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

  /** Gives the tenant a connection, now or when one becomes free. It must give it back with `release`. */
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

  /** Closes what is idle now, and the rest as it is released. */
  close(): void {
    this.isClosed = true;
    for (const connection of [...this.free]) this.retire(connection);
    this.reportIfEmpty();
  }

  /** Breaks every connection; whoever occupies one or waits for one hears `error`. */
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

  /** Whatever the server offers, at most as long as all are kept: an idle socket keeps an address that was checked long ago. */
  private idleEndOf({ idleAt, keepAliveMs }: Connection): number {
    return idleAt + Math.min(this.options.idleMs, keepAliveMs ?? Infinity);
  }

  /** One timer for all that are idle, since no request is to pay for one. */
  private lookAt(at: number, now: number): void {
    if (at >= this.looksAt) return;
    if (this.look !== null) clearTimeout(this.look);
    this.looksAt = at;
    // Rounded up: it would find nothing by a fraction of a millisecond, and again.
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

/** A busy connection never falls idle, so this is how long a receiver that moved (DNS) keeps being called at its old address. */
const CONNECTION_AGE_MAX_MS = 60_000;
const RETIRED = new ExchangeEnded('connection', 'The connection is not used any more.');
