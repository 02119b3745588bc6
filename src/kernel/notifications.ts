import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { Clock } from './clock.js';
import { Config } from './config.js';
import { Database } from './database.js';

/** What changed: a topic such as `destination`, and the key that caches know it by. */
type Listener = (key: string) => void;

const CHANNEL = 'posthorn';
const NOTIFY = { name: 'notify', text: `select pg_notify('${CHANNEL}', $1)` };
const RECONNECT_MS_MAX = 5_000;
/** A connection that is dead without saying so is found by asking. */
const BEAT_MS = 1_000;
const BEAT_TIMEOUT_MS = 2_500;

/**
 * Tells every process that a cached thing changed, through PostgreSQL's NOTIFY: it is sent by the transaction that
 * changed it and arrives only if that commits. While the connection is away nothing arrives, so on its return every
 * listener is told `*`: anything may have changed. A heartbeat on the connection says until when everything has arrived:
 * PostgreSQL hands over what was notified before it says that a query is done.
 */
@Injectable()
export class Notifications implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Notifications.name);
  private readonly listeners = new Map<string, Listener[]>();
  private client: pg.Client | null = null;
  private reconnect: NodeJS.Timeout | null = null;
  private beat: NodeJS.Timeout | null = null;
  private backoffMs = 100;
  private stopped = false;
  private heardMs = 0;

  constructor(
    @Inject(Config) private readonly config: Config,
    @Inject(Database) private readonly database: Database,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Whatever was announced before this moment, in milliseconds since the epoch, has been told to the listeners here. */
  heardUntilMs(): number {
    return this.heardMs;
  }

  /** Calls `listener` with the key of every change of `topic`, and with `*` when changes may have been missed. */
  on(topic: string, listener: Listener): void {
    this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
  }

  /** Announces a change: to this process after its commit at once, to the others through the database. */
  async announce(topic: string, key: string): Promise<void> {
    await this.database.query(NOTIFY, [`${topic}:${key}`]);
    this.database.afterCommit(() => this.tell(topic, key));
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.connect();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    if (this.reconnect) clearTimeout(this.reconnect);
    if (this.beat) clearTimeout(this.beat);
    await this.client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.config.databaseUrl,
      application_name: 'posthorn-listen',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      query_timeout: BEAT_TIMEOUT_MS,
    });
    client.on('notification', ({ payload = '' }) => {
      const colon = payload.indexOf(':');
      this.tell(payload.slice(0, colon), payload.slice(colon + 1));
    });
    client.on('error', () => undefined);
    client.on('end', () => this.retry());
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      this.client = client;
      this.backoffMs = 100;
      for (const topic of this.listeners.keys()) this.tell(topic, '*');
      this.beatLater(client);
    } catch (error) {
      this.logger.warn(`Not listening for changes: ${(error as Error).message}`);
      await client.end().catch(() => undefined);
      this.retry();
    }
  }

  private beatLater(client: pg.Client): void {
    if (this.stopped || this.client !== client) return;
    this.beat = setTimeout(() => {
      const askedAtMs = this.clock.nowMs();
      client.query('select 1').then(
        () => {
          this.heardMs = askedAtMs;
          this.beatLater(client);
        },
        // Its end is what makes another one.
        () => void client.end().catch(() => undefined),
      );
    }, BEAT_MS);
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
