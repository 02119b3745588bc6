import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { createAdapter } from '#http/adapter.js';
import { configureApp } from '#http/configure.js';
import { ConnectionDrain } from '#http/connection-drain.js';
import { logOutput, outageLog, PinoLogger } from '#http/logging.js';
import { SystemClock } from '#kernel/clock.js';
import { handleQueueErrors } from '#kernel/concurrency/queue-errors.queue.js';
import type { Config } from '#kernel/config/config.js';
import { Keyring } from '#kernel/crypto/keyring.js';
import { Database } from '#kernel/database/database.js';
import { followDatabase } from '#kernel/database/database-time.js';
import { retryUntilAvailable } from '#kernel/database/retry-until-available.js';
import { Ids } from '#kernel/ids.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { Readiness } from '#kernel/observability/readiness.js';
import { FirstStart } from '#modules/auth/organizations/first-start.js';
import { AppModule } from '../app.module.js';
import { dataSource } from './data-source.js';
import { blamed, watchFactories, watchHooks } from './extension-failure.js';
import { type LoadedExtension, loadExtensions } from './extensions.js';
import { refuseGlobalEnhancers } from './global-enhancers.js';
import { connect, migrateOnce } from './migrate.js';
import { crampedBy } from './processes/count.js';
import type { ListeningAddress } from './processes/listening.js';
import type { Member } from './processes/member.js';
import { reachRedis } from './redis-check.js';
import { settleHeap } from './settle-heap.js';
import type { Service } from './shutdown.js';

let extensions: readonly LoadedExtension[] = [];

export function blame(error: unknown, config: Config): unknown {
  return blamed(error, extensions, config.role);
}

/** Starts the service on an existing database and master key. `member` is set if other processes share the ports. */
export async function startService(
  complete: Config,
  logger: Logger,
  member: Member | null = null,
): Promise<ListeningService> {
  extensions = await loadExtensions(complete.extensions);
  const waiting = (): void => logger.warn('Waiting for the database at DATABASE_URL.');
  await migrateOnce(complete, extensions, waiting);
  const source = dataSource(
    complete.databaseUrl,
    complete.databasePoolSize,
    extensions.flatMap(({ entities }) => entities),
    { isPooled: complete.isPooled },
  );
  await connect(source, waiting);
  if (member?.number === 1) await warnOfConnections(source, complete, member, logger);
  await reachRedis(complete, () => logger.warn('Waiting for Redis at REDIS_URL.'));
  // Synchronizes the clock with the database's clock, before the service creates anything with a timestamp.
  const clock = new SystemClock();
  await retryUntilAvailable(() => followDatabase(clock, (text) => source.query(text)));
  watchFactories(extensions, complete.role);
  const module = AppModule.forRoot(
    complete,
    source,
    clock,
    extensions.map(({ imported }) => imported(complete.role)),
  );
  const app = await NestFactory.create<NestFastifyApplication>(
    module,
    createAdapter(new Ids(clock), logger, complete.trustProxy),
    {
      logger: new PinoLogger(logger, await logOutput(), outageLog(complete)),
      abortOnError: false,
    },
  );
  const service = new ListeningService(app, new ConnectionDrain(app.getHttpServer()));
  if (member !== null) joinOthers(app, member);
  handleQueueErrors(app);
  watchHooks(app, extensions, complete.role);
  try {
    refuseGlobalEnhancers(app, extensions, complete.role);
    configureApp(app);
    await retryUntilAvailable(() => app.get(Keyring).load());
    await retryUntilAvailable(() => firstStart(app));
    settleHeap();
    await app.listen({ port: complete.port, host: complete.host });
  } catch (error) {
    // Stops the parts of the service that have started. Hides their log lines, because the caller logs the cause in one
    // line.
    if (!logger.isLevelEnabled('debug')) logger.level = 'silent';
    await service.drain().catch(() => undefined);
    throw error;
  }
  for (const { port } of service.addresses) complete.listensOn(port);
  return service;
}

class ListeningService implements Service {
  constructor(
    private readonly app: NestFastifyApplication,
    private readonly connections: ConnectionDrain,
  ) {}

  /** Addresses that the API listens on. A host name may resolve to several addresses. */
  get addresses(): readonly ListeningAddress[] {
    return this.app.getHttpAdapter().getInstance().addresses() as ListeningAddress[];
  }

  async retire(graceMs: number): Promise<void> {
    this.app.get(Readiness).drain();
    this.connections.announce();
    await sleep(graceMs);
  }

  async drain(): Promise<void> {
    const database = this.app.get(Database);
    this.connections.closeIdle();
    await this.app.close();
    this.connections.stop();
    await database.close();
  }
}

/** Prints the first API keys at any log level, right after they are committed, because they are shown only once. */
async function firstStart(app: NestFastifyApplication): Promise<void> {
  const keys = await app.get(FirstStart).run();
  if (keys === null) return;
  const lines = [
    `Live admin key: ${keys.live}`,
    `Test admin key: ${keys.test}`,
    'The keys are not shown again; `npm run create-admin-key` makes another one.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const CONNECTIONS = `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as room`;

/** Warns if the server may allow too few connections, except behind a pooler. Counts each pool at its maximum size. */
async function warnOfConnections(
  source: ReturnType<typeof dataSource>,
  { isPooled, databasePoolSize }: Config,
  { beginning }: Member,
  logger: Logger,
): Promise<void> {
  if (isPooled) return;
  const [server] = await retryUntilAvailable(() => source.query<{ room: number }[]>(CONNECTIONS));
  const warning = server ? crampedBy(server.room, beginning.count, databasePoolSize) : null;
  if (warning !== null) logger.warn(warning);
}

function joinOthers(app: NestFastifyApplication, member: Member): void {
  const metrics = app.get(Metrics);
  app.get(Readiness).numbered(member.number);
  member.serveMetrics(() => metrics.own());
  metrics.sharedBy(() => member.figures());
}
