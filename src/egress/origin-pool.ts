import { Client } from 'undici';
import type { buildConnector } from 'undici';
import { InterimAnswers, readThrough } from './interim-answers.js';

/** One connection at a time to one origin; undici opens it anew when it was closed. */
export class Connection {
  /** Exchanges completed on the socket that is open now. */
  served = 0;
  /** By the monotonic clock, in milliseconds. */
  openedAt = 0;
  isOpen = false;
  isBusy = false;
  isRetired = false;
  /** Of the socket that is open now. */
  interim = new InterimAnswers();
  readonly client: Client;

  constructor(open: (connection: Connection) => Client) {
    this.client = open(this);
  }
}

/** What waits for a connection. `isSettled`: it has been answered meanwhile and wants none any more. */
export interface Tenant {
  readonly isSettled: boolean;
  occupy(connection: Connection): void;
  end(error: Error): void;
}

export interface OriginPoolOptions {
  origin: string;
  connect: buildConnector.connector;
  connectionsMax: number;
  idleMs: number;
  /** Called when the last connection is gone and nobody waits. */
  onEmpty: (pool: OriginPool) => void;
}

/**
 * The connections of one origin: at most `connectionsMax`, the last used first, so that the ones too many fall idle
 * and close. undici's own Pool is not used because its bound gives way when connects fail, because it searches its
 * connections one by one, and because a retry on it may meet the next stale connection instead of a fresh one.
 */
export class OriginPool {
  /** By the monotonic clock, in milliseconds. */
  usedAt = 0;
  private readonly free: Connection[] = [];
  private readonly all = new Set<Connection>();
  private readonly waiting: Tenant[] = [];
  private isClosed = false;

  constructor(private readonly options: OriginPoolOptions) {}

  get origin(): string {
    return this.options.origin;
  }

  get connections(): number {
    return this.all.size;
  }

  get inFlight(): number {
    return this.all.size - this.free.length + this.waiting.length;
  }

  /** Gives the tenant a connection, now or when one becomes free. It must give it back with `release`. */
  admit(tenant: Tenant, now: number): void {
    this.usedAt = now;
    const connection = this.free.pop() ?? this.open();
    if (connection === null) {
      this.waiting.push(tenant);
    } else {
      connection.isBusy = true;
      tenant.occupy(connection);
    }
  }

  release(connection: Connection, now: number): void {
    connection.isBusy = false;
    const isOld = now - connection.openedAt > CONNECTION_AGE_MAX_MS;
    if (connection.isOpen && !isOld && !this.isClosed) this.free.push(connection);
    else this.retire(connection);
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      if (!next.isSettled) return this.admit(next, now);
    }
    this.reportIfEmpty();
  }

  /** Closes what is idle now, and the rest as it is released. */
  close(): void {
    this.isClosed = true;
    for (const connection of [...this.free]) this.retire(connection);
    this.reportIfEmpty();
  }

  /** Breaks every connection; whoever occupies one or waits for one hears `error`. */
  async destroy(error: Error): Promise<void> {
    this.isClosed = true;
    for (const tenant of this.waiting.splice(0)) tenant.end(error);
    await Promise.all([...this.all].map(({ client }) => client.destroy(error)));
  }

  private open(): Connection | null {
    if (this.all.size >= this.options.connectionsMax) return null;
    const connection = new Connection((opened) => this.client(opened));
    this.all.add(connection);
    connection.client.on('connect', () => {
      connection.isOpen = true;
      connection.openedAt = performance.now();
    });
    connection.client.on('disconnect', () => {
      connection.isOpen = false;
      connection.served = 0;
      if (!connection.isBusy) this.retire(connection);
    });
    return connection;
  }

  private client(connection: Connection): Client {
    return new Client(this.options.origin, {
      connect: (target, callback) => this.options.connect(target, (...opened) => {
        const [, socket] = opened;
        if (socket) {
          connection.interim = new InterimAnswers();
          readThrough(socket, connection.interim);
        }
        callback(...opened);
      }),
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: this.options.idleMs,
      // Whatever the server offers: an idle socket keeps an address that was checked long ago.
      keepAliveMaxTimeout: this.options.idleMs,
      // The exchange has the one deadline; two more timers would only be in its way.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
    });
  }

  private retire(connection: Connection): void {
    if (connection.isRetired) return;
    connection.isRetired = true;
    const index = this.free.lastIndexOf(connection);
    if (index !== -1) this.free.splice(index, 1);
    this.all.delete(connection);
    // undici may be in the middle of completing the exchange that released an open connection; a broken one it would
    // open again for an exchange that was aborted.
    if (connection.isOpen) connection.client.close(() => undefined);
    else connection.client.destroy(() => undefined);
    this.reportIfEmpty();
  }

  private reportIfEmpty(): void {
    if (this.all.size === 0 && this.waiting.length === 0) this.options.onEmpty(this);
  }
}

/** A busy connection never falls idle, so this is how long a receiver that moved (DNS) keeps being called at its old address. */
const CONNECTION_AGE_MAX_MS = 60_000;

const RESPONSE_HEADER_BYTES_MAX = 16_384;
