import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import { dataSource } from './data-source.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded.js';
import { loadExtensions } from './extensions.js';
import { createAdapter } from './http/adapter.js';
import { configureApp } from './http/configure.js';
import { createLogger, PinoLogger } from './http/logging.js';
import { SystemClock } from './kernel/clock.js';
import { Config, loadConfig } from './kernel/config.js';
import { Database } from './kernel/database.js';
import { Ids } from './kernel/ids.js';
import { Keyring } from './kernel/keyring.js';
import { Readiness } from './kernel/readiness.js';
import { provideMasterKey } from './master-key.js';
import { connect, runMigrations } from './migrate.js';
import { FirstStart } from './modules/auth/contract.js';

/** A process that is up, and what has to be put down again. */
interface Running {
  app: NestFastifyApplication;
  postgres: EmbeddedPostgres | null;
}

const IDLE_CLOSE_MS = 100;

let stopping = false;

async function start(config: Config, logger: Logger): Promise<Running> {
  const masterKey = provideMasterKey(config);
  const log = (message: string, fields?: object): void => logger.info({ context: 'EmbeddedPostgres', ...fields }, message);
  const postgres = config.isEmbedded ? await startEmbeddedPostgres({ dataDir: config.dataDir, log }) : null;
  try {
    const complete = config.completedWith(postgres?.url ?? config.databaseUrl, masterKey);
    return { app: await startApp(complete, logger), postgres };
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}

async function startApp(complete: Config, logger: Logger): Promise<NestFastifyApplication> {
  const extensions = await loadExtensions(complete.extensions);
  const source = dataSource(complete.databaseUrl, complete.databasePoolSize, extensions.flatMap(({ entities }) => entities));
  await connect(source, () => logger.warn('Waiting for the database at DATABASE_URL.'));
  await runMigrations(source, extensions);
  const module = AppModule.with(complete, source, extensions.map(({ imported }) => imported(complete.role)));
  const app = await NestFactory.create<NestFastifyApplication>(module, createAdapter(new Ids(new SystemClock()), logger), {
    logger: new PinoLogger(logger),
    abortOnError: false,
  });
  configureApp(app);
  await app.get(Keyring).load();
  const keys = await app.get(FirstStart).run();
  await app.listen({ port: complete.port, host: complete.host });
  announce(app, complete, keys);
  return app;
}

/** On standard output whatever the log level says: the keys are shown this once. */
function announce(app: NestFastifyApplication, config: Config, keys: { live: string; test: string } | null): void {
  const address = app.getHttpServer().address();
  if (address && typeof address === 'object') config.listensOn(address.port);
  const lines = [`Posthorn is listening on ${config.baseUrl}`, `Swagger UI: ${config.baseUrl}/docs`];
  if (keys) lines.push(`Live admin key: ${keys.live}`, `Test admin key: ${keys.test}`, 'The keys are not shown again.');
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Readiness goes first, then no request and no attempt is cut, then the storage goes. */
async function stop({ app, postgres }: Running): Promise<void> {
  app.get(Readiness).drain();
  const database = app.get(Database);
  // A connection that is kept open after its last answer would hold up the close until its client lets go.
  const server = app.getHttpServer() as { closeIdleConnections(): void };
  const closing = setInterval(() => server.closeIdleConnections(), IDLE_CLOSE_MS);
  await app.close();
  clearInterval(closing);
  await database.close();
  await postgres?.stop();
}

function stopOnSignals(running: Running, config: Config, logger: Logger): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      logger.info(`Stopping on ${signal}.`);
      const late = setTimeout(() => {
        logger.error(`Not stopped within ${config.shutdownTimeoutMs} ms; what is open falls back to other workers.`);
        process.exit(1);
      }, config.shutdownTimeoutMs);
      late.unref();
      stop(running).then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'Stopping failed.');
          process.exit(1);
        },
      );
    });
  }
}

try {
  const config = loadConfig();
  const logger = createLogger(config, process.stdout.isTTY);
  stopOnSignals(await start(config, logger), config, logger);
} catch (error) {
  process.stderr.write(`Posthorn did not start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
