import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import { dataSource } from './data-source.js';
import { startEmbeddedPostgres } from './embedded.js';
import { blamed, watchHooks } from './extension-failure.js';
import { loadExtensions, type LoadedExtension } from './extensions.js';
import { createAdapter } from './http/adapter.js';
import { configureApp } from './http/configure.js';
import { ConnectionDrain } from './http/connection-drain.js';
import { createLogger, outageLog, PinoLogger } from './http/logging.js';
import { tryPorts } from './http/trial-listener.js';
import { SystemClock } from './kernel/clock.js';
import { Config, loadConfig } from './kernel/config.js';
import { followDatabase } from './kernel/database-time.js';
import { Ids } from './kernel/ids.js';
import { Keyring } from './kernel/keyring.js';
import { patiently } from './kernel/patience.js';
import { hearQueues } from './kernel/unheard.queue.js';
import { provideMasterKey } from './master-key.js';
import { connect, migrateOnce } from './migrate.js';
import { FirstStart } from './modules/auth/contract.js';
import { reachRedis } from './redis-reach.js';
import { drain, Shutdown, type Service } from './shutdown.js';
import { startFailure } from './start-failure.js';

async function start(config: Config, logger: Logger, shutdown: Shutdown): Promise<void> {
  await tryPorts([config.port, config.metricsPort, config.dnsPort], config.host);
  const masterKey = provideMasterKey(config);
  const log = (message: string, fields?: object): void => logger.info({ context: 'EmbeddedPostgres', ...fields }, message);
  const postgres = config.isEmbedded ? await startEmbeddedPostgres({ dataDir: config.dataDir, log }) : null;
  shutdown.owns(postgres);
  try {
    const complete = config.completedWith(postgres?.url ?? config.databaseUrl, masterKey);
    if (postgres) complete.alsoListensOn(Number(new URL(postgres.url).port));
    shutdown.isUp(await startApp(complete, logger));
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}

async function startApp(complete: Config, logger: Logger): Promise<Service> {
  extensions = await loadExtensions(complete.extensions);
  const waiting = (): void => logger.warn('Waiting for the database at DATABASE_URL.');
  await migrateOnce(complete, extensions, waiting);
  const source = dataSource(complete.databaseUrl, complete.databasePoolSize, extensions.flatMap(({ entities }) => entities), { isPooled: complete.isPooled });
  await connect(source, waiting);
  await reachRedis(complete, () => logger.warn('Waiting for Redis at REDIS_URL.'));
  // Before anything is made that carries a time.
  const clock = new SystemClock();
  await patiently(() => followDatabase(clock, (text) => source.query(text)));
  const module = AppModule.with(complete, source, clock, extensions.map(({ imported }) => imported(complete.role)));
  const app = await NestFactory.create<NestFastifyApplication>(module, createAdapter(new Ids(clock), logger, complete.trustProxy), {
    logger: new PinoLogger(logger, outageLog(complete)),
    abortOnError: false,
  });
  const service = { app, connections: new ConnectionDrain(app.getHttpServer()) };
  hearQueues(app);
  watchHooks(app, extensions, complete.role);
  try {
    configureApp(app);
    await patiently(() => app.get(Keyring).load());
    await patiently(() => firstStart(app));
    await app.listen({ port: complete.port, host: complete.host });
  } catch (error) {
    // What runs already must not meet a database that is stopped below it. Why it ends is said in one line, by the caller.
    if (!logger.isLevelEnabled('debug')) logger.level = 'silent';
    await drain(service).catch(() => undefined);
    throw error;
  }
  announce(app, complete);
  return service;
}

/** On standard output whatever the log level says, and right after the commit: what follows may fail, and the keys are shown this once. */
async function firstStart(app: NestFastifyApplication): Promise<void> {
  const keys = await app.get(FirstStart).run();
  if (keys === null) return;
  const lines = [`Live admin key: ${keys.live}`, `Test admin key: ${keys.test}`, 'The keys are not shown again; `npm run create-admin-key` makes another one.'];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** On standard output whatever the log level says. */
function announce(app: NestFastifyApplication, config: Config): void {
  const address = app.getHttpServer().address();
  if (address && typeof address === 'object') config.listensOn(address.port);
  process.stdout.write(`Posthorn is listening on ${config.baseUrl}\nSwagger UI: ${config.baseUrl}/docs\n`);
}

let config: Config | null = null;
let extensions: readonly LoadedExtension[] = [];

function fail(error: unknown): void {
  const told = config === null ? error : blamed(error, extensions, config.role);
  process.stderr.write(`Posthorn did not start: ${startFailure(told, config)}\n`);
  process.exit(1);
}

// What nobody waits for can fail too, in an extension for example.
process.on('uncaughtException', fail);
try {
  config = loadConfig();
  const logger = createLogger(config, process.stdout.isTTY);
  const shutdown = new Shutdown(config, logger);
  await start(config, logger, shutdown).catch((error: unknown) => {
    if (!shutdown.hasBegun) throw error;
  });
} catch (error) {
  fail(error);
}
process.off('uncaughtException', fail);
