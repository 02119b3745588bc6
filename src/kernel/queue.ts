import { createPostgresBackend, setDefaultBackendFactory, type BackendFactory, type IQueueBackend } from 'bullmq';
import { Redis } from 'ioredis';
import type { Config } from './config.js';

/** Options of BullMQ's root module: `REDIS_URL` puts the queues there, otherwise they live in PostgreSQL, schema `bullmq`. */
export function queueOptions(config: Config): { connection: never; prefix?: string } {
  if (config.redisUrl) {
    setDefaultBackendFactory();
    return { connection: { url: config.redisUrl, maxRetriesPerRequest: null } as never, prefix: '{posthorn}' };
  }
  // Process-wide because @nestjs/bullmq 12.0 has no option to pass a backend per queue.
  setDefaultBackendFactory(createPostgresBackend as unknown as BackendFactory<IQueueBackend>);
  return { connection: { connectionString: config.databaseUrl, migrate: true, max: 2 } as never };
}

/** A connection to Redis for what is not a queue, or null where there is none. It fails at once while Redis is away. */
export function redisConnection(config: Config): Redis | null {
  if (!config.redisUrl) return null;
  const redis = new Redis(config.redisUrl, { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true });
  redis.on('error', () => undefined);
  void redis.connect().catch(() => undefined);
  return redis;
}
