import type { Logger } from 'pino';
import { startEmbeddedPostgres } from './embedded.js';
import { createLogger } from './http/logging.js';
import { tryPorts } from './http/trial-listener.js';
import { type Config, loadConfig } from './kernel/config.js';
import { provideMasterKey } from './master-key.js';
import { Shutdown } from './shutdown.js';
import { startFailure } from './start-failure.js';
import { mapStacks } from './stack-traces.js';

async function start(config: Config, logger: Logger, shutdown: Shutdown): Promise<void> {
  await tryPorts([config.port, config.metricsPort, config.dnsPort, config.isListener && config.isSmtpPortAsked ? config.smtpPort : null], config.host);
  const masterKey = provideMasterKey(config);
  const log = (message: string, fields?: object): void => logger.info({ context: 'EmbeddedPostgres', ...fields }, message);
  const postgres = config.isEmbedded ? await startEmbeddedPostgres({ dataDir: config.dataDir, log }) : null;
  shutdown.owns(postgres);
  try {
    const complete = config.completedWith(postgres?.url ?? config.databaseUrl, masterKey);
    if (postgres) complete.alsoListensOn(Number(new URL(postgres.url).port));
    // Two thousand files, which a variable with a mistake in it should not wait for.
    const service = await import('./service.js');
    blame = service.blame;
    shutdown.isUp(await service.startService(complete, logger));
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}

mapStacks();
let config: Config | null = null;
let blame = (error: unknown, _config: Config): unknown => error;

function fail(error: unknown): void {
  const told = config === null ? error : blame(error, config);
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
