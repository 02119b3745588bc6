import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../clock.js';
import { STALENESS_MAX_MS } from '../concurrency/cache.js';
import { Config } from '../config/config.js';
import { Connection, connectionOptions } from './connection.js';
import { Database, type Statement } from './database.js';

/** Receives the cache key of the changed data. */
type Listener = (key: string) => void;

const CHANNEL = 'posthorn';
const TURN_MS = 500;
/** Heartbeat interval. Long, because heartbeats are an idle service's only load and wake all listening connections. */
const BEAT_MS = 2_500;
/**
 * Maximum time from the commit of a heartbeat to its arrival. If a heartbeat takes longer, the LISTEN connection is
 * replaced.
 */
const BEAT_LATE_MS = 2_500;
const STATEMENT_MS_MAX = 2_500;
const RECONNECT_MS_MAX = 5_000;

const NOTIFY: Statement = { name: 'notify', text: `select pg_notify('${CHANNEL}', $1)` };
const NOTIFY_ALL: Statement = {
  name: 'notify_all',
  text: `select count(pg_notify('${CHANNEL}', message)) from unnest($1::text[]) message`,
};
const BEAT: Statement = {
  name: 'notify_beat',
  text: 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms, pg_notify($1, $2)',
  deadlineMs: STATEMENT_MS_MAX,
};

/** PostgreSQL's time at some moment between two readings of this process's monotonic clock. */
export interface TimeOfDatabase {
  ms: number;
  askedMs: number;
  answeredMs: number;
}

interface Beat {
  nonce: string;
  sentAtMs: number;
  /** Time on the monotonic clock at which the heartbeat was committed. Null until it is known. */
  committedMs: number | null;
}

/**
 * Notifies every process of changes to cached data through PostgreSQL's NOTIFY. The transaction of the change sends the
 * notification, which arrives only if the transaction commits. Nothing arrives while the LISTEN connection is down.
 * After a reconnect, every listener therefore receives `*`, which means that anything may have changed.
 *
 * A heartbeat shows up to which time all notifications have arrived. It is a NOTIFY from this process to itself, sent
 * like a change and not over the LISTEN connection. PostgreSQL delivers notifications in commit order. Everything
 * committed before the heartbeat was sent has therefore arrived before it.
 */
@Injectable()
export class Notifications implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Notifications.name);
  private readonly listeners = new Map<string, Listener[]>();
  private readonly timekeepers: ((time: TimeOfDatabase) => void)[] = [];
  /** A separate channel for this process, so that other processes do not have to read its heartbeats. */
  private readonly beatChannel = `${CHANNEL}_beat_${randomBytes(8).toString('hex')}`;
  private connection: Connection | null = null;
  private reconnect: NodeJS.Timeout | null = null;
  private beating: NodeJS.Timeout | null = null;
  private beat: Beat | null = null;
  private backoffMs = 100;
  private stopped = false;
  /** Time when the last heartbeat was started, on the monotonic clock. */
  private begunMs = -Infinity;
  private confirmedMs = 0;
  private wasDeaf = false;

  constructor(
    @Inject(Config) private readonly config: Config,
    @Inject(Database) private readonly database: Database,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Returns the time (since the epoch) up to which all changes have been reported to the listeners. */
  confirmedUntilMs(): number {
    return this.confirmedMs;
  }

  /** Returns true if no heartbeat has arrived for five seconds. Caches then reload their entries every five seconds. */
  isDeaf(): boolean {
    return this.clock.nowMs() - this.confirmedMs > STALENESS_MAX_MS;
  }

  /** Registers `listener`, which receives the key of every change, and `*` if changes may have been missed. */
  on(topic: string, listener: Listener): void {
    this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
  }

  /** Registers a listener for PostgreSQL's time, which each response to a heartbeat contains. */
  onTime(listener: (time: TimeOfDatabase) => void): void {
    this.timekeepers.push(listener);
  }

  /**
   * Announces a change to this process after the transaction ends, and to other processes through the database. After a
   * rollback, only this process gets the announcement, because its caches may have loaded the uncommitted row.
   */
  async announce(topic: string, key: string): Promise<void> {
    await this.database.query(NOTIFY, [`${topic}:${key}`]);
    this.database.afterEnd(() => this.dispatch(topic, key));
  }

  async announceAll(topic: string, keys: readonly string[]): Promise<void> {
    await this.database.query(NOTIFY_ALL, [keys.map((key) => `${topic}:${key}`)]);
    this.database.afterEnd(() => keys.forEach((key) => this.dispatch(topic, key)));
  }

  async onApplicationBootstrap(): Promise<void> {
    this.beating = setInterval(() => this.turn(), TURN_MS);
    await this.connect();
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    if (this.reconnect) clearTimeout(this.reconnect);
    if (this.beating) clearInterval(this.beating);
    // Does not wait for the connection to close, because the server would not respond over a half-open connection.
    void this.connection?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const connection = new Connection(
      connectionOptions({ url: this.config.databaseDirectUrl, name: 'posthorn-listen', deadlineMs: STATEMENT_MS_MAX }),
    );
    connection.on('notification', ({ channel, payload = '' }) => {
      if (channel === this.beatChannel) return this.onBeat(payload);
      const colon = payload.indexOf(':');
      this.dispatch(payload.slice(0, colon), payload.slice(colon + 1));
    });
    connection.on('error', () => undefined);
    connection.on('end', () => this.lost(connection));
    try {
      await connection.connect();
      await connection.query(`listen ${CHANNEL}; listen ${this.beatChannel}`);
      this.connection = connection;
      [this.beat, this.begunMs] = [null, -Infinity];
      this.backoffMs = 100;
      for (const topic of this.listeners.keys()) this.dispatch(topic, '*');
      this.turn();
    } catch (error) {
      this.logger.warn(`Not listening for changes: ${(error as Error).message}`);
      void connection.end().catch(() => undefined);
      this.retry();
    }
  }

  private turn(): void {
    this.complain();
    const { connection, beat } = this;
    if (connection === null || this.stopped) return;
    if (!beat) return void (performance.now() - this.begunMs >= BEAT_MS && this.send());
    const { committedMs } = beat;
    if (committedMs !== null && performance.now() - committedMs >= BEAT_LATE_MS)
      connection.giveUp('Notifications do not arrive over this connection.');
  }

  private async send(): Promise<void> {
    const beat: Beat = { nonce: randomBytes(8).toString('hex'), sentAtMs: this.clock.nowMs(), committedMs: null };
    this.beat = beat;
    this.begunMs = performance.now();
    const askedMs = this.clock.monotonicMs();
    try {
      const [row] = await this.database.query<{ ms: number }>(BEAT, [this.beatChannel, beat.nonce]);
      beat.committedMs = performance.now();
      if (row)
        for (const dispatch of this.timekeepers)
          dispatch({ ms: row.ms, askedMs, answeredMs: this.clock.monotonicMs() });
    } catch {
      // The heartbeat may not have been sent, so its absence does not mean that the LISTEN connection is broken.
      if (this.beat === beat) [this.beat, this.begunMs] = [null, -Infinity];
    }
  }

  private onBeat(nonce: string): void {
    if (this.beat?.nonce !== nonce) return;
    this.confirmedMs = this.beat.sentAtMs;
    this.beat = null;
  }

  private complain(): void {
    const isDeaf = this.confirmedMs > 0 && this.isDeaf();
    if (isDeaf === this.wasDeaf) return;
    this.wasDeaf = isDeaf;
    if (isDeaf) this.logger.warn('Notifications of other processes do not arrive: cached data is reloaded every 5 s.');
    else this.logger.log('Notifications of other processes arrive again.');
  }

  private lost(connection: Connection): void {
    if (this.connection === connection) this.connection = null;
    this.retry();
  }

  private retry(): void {
    if (this.stopped || this.reconnect) return;
    this.reconnect = setTimeout(() => {
      this.reconnect = null;
      void this.connect();
    }, this.backoffMs);
    this.backoffMs = Math.min(this.backoffMs * 2, RECONNECT_MS_MAX);
  }

  private dispatch(topic: string, key: string): void {
    for (const listener of this.listeners.get(topic) ?? []) listener(key);
  }
}
