import {
  type BackendFactory,
  DEFAULT_SCHEMA,
  type IQueueBackend,
  type PgPool,
  type PgPoolClient,
  type PgQueryResult,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
  runMigrations,
  setDefaultBackendFactory,
} from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Config } from '../config/config.js';
import { Connection, connectionOptions } from '../database/connection.js';
import { isUnreachable, retryUntilAvailable } from '../database/retry-until-available.js';

/** Statement deadline: half the duration of a worker's lock on a job. */
const DEADLINE_MS = 15_000;
const SETTINGS = [`search_path=${DEFAULT_SCHEMA}`, 'statement_timeout=10s'];
/** Connections per pool. A worker needs one more connection, because its LISTEN connection stays open. */
const CONNECTIONS = { queue: 2, worker: 3 } as const;
/** Idle timeout of connections. Exceeds a worker's polling interval, because reconnecting costs more than a query. */
const IDLE_MS = 30_000;
/**
 * Time by which the error of an unavailable server is delayed before BullMQ receives it. BullMQ would otherwise retry
 * without a pause.
 */
const REST_MS = 500;

/** Returns the queue options: Redis with `REDIS_URL`, otherwise PostgreSQL with the schema `bullmq`. */
export function queueOptions(config: Config): { connection: never; prefix?: string } {
  if (config.redisUrl) {
    setDefaultBackendFactory();
    return { connection: { url: config.redisUrl, maxRetriesPerRequest: null } as never, prefix: '{posthorn}' };
  }
  const url = config.databaseDirectUrl;
  const backend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (
    name,
    options,
    { withBlockingConnection: isWorker = false } = {},
  ) =>
    new PostgresQueueBackend(
      new QueueConnection(url, isWorker ? CONNECTIONS.worker : CONNECTIONS.queue),
      name,
      options,
      true,
    );
  // The backend is set for the whole process: @nestjs/bullmq 12.0 has no option for a backend per queue.
  setDefaultBackendFactory(backend as unknown as BackendFactory<IQueueBackend>);
  return { connection: {} as never };
}

/** Creates the queues' tables in PostgreSQL. Call it once, before any queue exists. */
export async function prepareQueues(config: Config): Promise<void> {
  if (config.redisUrl) return;
  await retryUntilAvailable(async () => {
    const client = new Connection(
      connectionOptions({ url: config.databaseDirectUrl, name: 'posthorn-queues', deadlineMs: Infinity }),
    );
    await client.connect();
    try {
      await runMigrations(client);
    } finally {
      void client.end().catch(() => undefined);
    }
  });
}

/** Replaces BullMQ's own connection, which has no error listener and caches a failed first connection forever. */
class QueueConnection extends PostgresConnection {
  private readonly own: pg.Pool;

  constructor(url: string, max: number) {
    const own = new pg.Pool({
      ...connectionOptions({ url, name: 'posthorn-queues', deadlineMs: DEADLINE_MS, settings: SETTINGS }),
      max,
      idleTimeoutMillis: IDLE_MS,
    });
    super(new UnhurriedPool(own));
    this.own = own;
  }

  /** Does not wait, because `prepareQueues` has already created the tables. */
  override async waitUntilReady(): Promise<void> {}

  override async close(): Promise<void> {
    await super.close();
    if (!this.own.ending) await this.own.end();
  }
}

/**
 * BullMQ's connection pool. Delays the error of an unavailable server by half a second, because BullMQ would otherwise
 * retry without a pause.
 */
class UnhurriedPool implements PgPool {
  constructor(private readonly pool: pg.Pool) {}

  get options(): pg.PoolConfig {
    return this.pool.options;
  }

  connect(): Promise<PgPoolClient> {
    return unhurried(this.pool.connect());
  }

  async query<R>(text: string, values?: readonly unknown[]): Promise<PgQueryResult<R>> {
    const { rows, rowCount } = await unhurried(this.pool.query(text, values as unknown[]));
    return { rows: rows as R[], rowCount };
  }

  end(): Promise<void> {
    return this.pool.end();
  }

  on(event: string, listener: (value: never) => void): this {
    this.pool.on(event as 'connect', listener as () => void);
    return this;
  }

  removeAllListeners(event?: string): this {
    this.pool.removeAllListeners(event);
    return this;
  }
}

async function unhurried<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isUnreachable(error)) await new Promise((resolve) => setTimeout(resolve, REST_MS));
    throw error;
  }
}

/** Returns a Redis connection for uses other than queues, or null without REDIS_URL. Commands fail fast in outages. */
export function redisConnection(config: Config): Redis | null {
  if (!config.redisUrl) return null;
  const redis = new Redis(config.redisUrl, { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true });
  redis.on('error', () => undefined);
  void redis.connect().catch(() => undefined);
  return redis;
}
