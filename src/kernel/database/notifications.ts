import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../clock.js';
import { STALENESS_MAX_MS } from '../concurrency/cache.js';
import { Config } from '../config/config.js';
import { Connection, connectionOptions } from './connection.js';
import { Database, type Statement } from './database.js';

/** What changed: a topic such as `destination`, and the key that caches know it by. */
type Listener = (key: string) => void;

const CHANNEL = 'posthorn';
const TURN_MS = 500;
/**
 * PostgreSQL wakes every connection that listens for each one, whatever it listens to, and a wake is a transaction: where
 * nothing happens, beats are what there is.
 */
const BEAT_MS = 2_500;
/** A beat that was not heard by then is lost, and the listening connection is made anew: five seconds after the last one that was. */
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

/** What PostgreSQL's clock showed at some moment between two of this process's monotonic clock. */
export interface TimeOfDatabase {
  ms: number;
  askedMs: number;
  answeredMs: number;
}

/** A beat that was sent and not heard yet. */
interface Beat {
  nonce: string;
  sentAtMs: number;
  /** When it was committed, by the monotonic clock; null as long as that is not known. */
  committedMs: number | null;
}

/**
 * Tells every process that a cached thing changed, through PostgreSQL's NOTIFY: it is sent by the transaction that
 * changed it and arrives only if that commits. While the connection is away nothing arrives, so on its return every
 * listener is told `*`: anything may have changed.
 *
 * A heartbeat says until when everything has arrived: a NOTIFY of this process itself, sent the way that changes are sent
 * and not over the connection that listens. PostgreSQL hands notifications over in the order of their commits, so when it
 * arrives, everything that was committed before it was sent has arrived. Nothing else proves that: a pooler answers a
 * `select 1` from whatever connection is free, and lets nobody hear anything.
 */
@Injectable()
export class Notifications implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Notifications.name);
  private readonly listeners = new Map<string, Listener[]>();
  private readonly timekeepers: ((time: TimeOfDatabase) => void)[] = [];
  /** Of this process alone: nobody else has to read its beats. */
  private readonly beatChannel = `${CHANNEL}_beat_${randomBytes(8).toString('hex')}`;
  private connection: Connection | null = null;
  private reconnect: NodeJS.Timeout | null = null;
  private beating: NodeJS.Timeout | null = null;
  private beat: Beat | null = null;
  private backoffMs = 100;
  private stopped = false;
  /** When the last beat was sent, by the monotonic clock. */
  private begunMs = -Infinity;
  private heardMs = 0;
  private wasDeaf = false;

  constructor(
    @Inject(Config) private readonly config: Config,
    @Inject(Database) private readonly database: Database,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Whatever was announced before this moment, in milliseconds since the epoch, has been told to the listeners here. */
  heardUntilMs(): number {
    return this.heardMs;
  }

  /** Whether nothing has proved for five seconds that changes arrive: caches load what they are asked for every five seconds then. */
  isDeaf(): boolean {
    return this.clock.nowMs() - this.heardMs > STALENESS_MAX_MS;
  }

  /** Calls `listener` with the key of every change of `topic`, and with `*` when changes may have been missed. */
  on(topic: string, listener: Listener): void {
    this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
  }

  /** Calls `listener` with PostgreSQL's time, which the answer to each beat says. */
  onTime(listener: (time: TimeOfDatabase) => void): void {
    this.timekeepers.push(listener);
  }

  /**
   * Announces a change: to this process at once after the transaction ends, to the others through the database. Also after a
   * roll-back: a cache may have loaded a row of the transaction that was never committed.
   */
  async announce(topic: string, key: string): Promise<void> {
    await this.database.query(NOTIFY, [`${topic}:${key}`]);
    this.database.afterEnd(() => this.tell(topic, key));
  }

  /** Announces many changes with one statement. */
  async announceAll(topic: string, keys: readonly string[]): Promise<void> {
    await this.database.query(NOTIFY_ALL, [keys.map((key) => `${topic}:${key}`)]);
    this.database.afterEnd(() => keys.forEach((key) => this.tell(topic, key)));
  }

  async onApplicationBootstrap(): Promise<void> {
    this.beating = setInterval(() => this.turn(), TURN_MS);
    await this.connect();
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    if (this.reconnect) clearTimeout(this.reconnect);
    if (this.beating) clearInterval(this.beating);
    // Without waiting: a connection that died in silence does not say goodbye.
    void this.connection?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const connection = new Connection(
      connectionOptions({ url: this.config.databaseDirectUrl, name: 'posthorn-listen', deadlineMs: STATEMENT_MS_MAX }),
    );
    connection.on('notification', ({ channel, payload = '' }) => {
      if (channel === this.beatChannel) return this.heard(payload);
      const colon = payload.indexOf(':');
      this.tell(payload.slice(0, colon), payload.slice(colon + 1));
    });
    connection.on('error', () => undefined);
    connection.on('end', () => this.lost(connection));
    try {
      await connection.connect();
      await connection.query(`listen ${CHANNEL}; listen ${this.beatChannel}`);
      this.connection = connection;
      [this.beat, this.begunMs] = [null, -Infinity];
      this.backoffMs = 100;
      for (const topic of this.listeners.keys()) this.tell(topic, '*');
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
      connection.giveUp('Changes are not heard over this connection.');
  }

  private async send(): Promise<void> {
    const beat: Beat = { nonce: randomBytes(8).toString('hex'), sentAtMs: this.clock.nowMs(), committedMs: null };
    this.beat = beat;
    this.begunMs = performance.now();
    const askedMs = this.clock.monotonicMs();
    try {
      const [row] = await this.database.query<{ ms: number }>(BEAT, [this.beatChannel, beat.nonce]);
      beat.committedMs = performance.now();
      if (row) for (const tell of this.timekeepers) tell({ ms: row.ms, askedMs, answeredMs: this.clock.monotonicMs() });
    } catch {
      // It was not sent, or nobody knows: that says nothing about who listens.
      if (this.beat === beat) [this.beat, this.begunMs] = [null, -Infinity];
    }
  }

  private heard(nonce: string): void {
    if (this.beat?.nonce !== nonce) return;
    this.heardMs = this.beat.sentAtMs;
    this.beat = null;
  }

  private complain(): void {
    const isDeaf = this.heardMs > 0 && this.isDeaf();
    if (isDeaf === this.wasDeaf) return;
    this.wasDeaf = isDeaf;
    if (isDeaf) this.logger.warn('Changes of other processes are not heard: what is cached is read again every 5 s.');
    else this.logger.log('Changes of other processes are heard again.');
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

  private tell(topic: string, key: string): void {
    for (const listener of this.listeners.get(topic) ?? []) listener(key);
  }
}
