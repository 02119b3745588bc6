import type { Logger } from 'pino';
import { startEmbeddedPostgres } from './bootstrap/embedded.js';
import { provideMasterKey } from './bootstrap/master-key.js';
import { connectionsFor, processCount, thisMachine } from './bootstrap/processes/count.js';
import { type ListeningAddress, listeningLines } from './bootstrap/processes/listening.js';
import { Member } from './bootstrap/processes/member.js';
import { expectNoArguments } from './bootstrap/server-commands.js';
import { Shutdown } from './bootstrap/shutdown.js';
import { mapStacks } from './bootstrap/stack-traces.js';
import { startFailure } from './bootstrap/start-failure.js';
import { createLogger, logOutput } from './http/logging.js';
import { assertPortsFree } from './http/port-check-listener.js';
import { type Config, loadConfig } from './kernel/config/config.js';
import { VERSION } from './kernel/version.js';

/**
 * Imports the service, which consists of about two thousand files. The import is slow, so invalid environment variables
 * are reported before it. While PostgreSQL starts, the import already runs on another core. Its errors are ignored
 * then, because `serve` imports the same file and reports them.
 */
const loadService = () => import('./bootstrap/service.js');

async function start(config: Config, logger: Logger, shutdown: Shutdown): Promise<void> {
  logger.info({ context: 'Start', version: VERSION, node: process.version }, `Posthorn ${VERSION} starts.`);
  const count = processCount(config.processes, thisMachine());
  await assertPortsFree(
    [
      config.port,
      config.metricsPort,
      config.dnsPort,
      config.isListener && config.isSmtpPortAsked ? config.smtpPort : null,
    ],
    config.host,
  );
  if (config.takesSubmissions)
    await assertPortsFree(
      [config.isSubmissionPortAsked ? config.submissionPort : null, config.submissionsPort],
      config.submissionHost,
    );
  const masterKey = provideMasterKey(config);
  const log = (message: string, fields?: object): void =>
    logger.info({ context: 'EmbeddedPostgres', ...fields }, message);
  const settings = { max_connections: String(Math.max(200, connectionsFor(count, config.databasePoolSize))) };
  if (count === 1) void loadService().catch(() => undefined);
  const postgres = config.isEmbedded ? await startEmbeddedPostgres({ dataDir: config.dataDir, settings, log }) : null;
  shutdown.owns(postgres);
  try {
    const complete = config.completedWith(postgres?.url ?? config.databaseUrl, masterKey);
    const ownPorts = postgres ? [Number(new URL(postgres.url).port)] : [];
    const addresses =
      count === 1
        ? await serve(complete, ownPorts, logger, shutdown)
        : await serveTogether(count, complete, ownPorts, logger, shutdown);
    // Printed directly, so that the lines appear at any log level.
    process.stdout.write(`${listeningLines(addresses, complete.configuredBaseUrl).join('\n')}\n`);
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}

/** Runs the service in this process. Resolves with the addresses that the service listens on. */
async function serve(
  complete: Config,
  ownPorts: readonly number[],
  logger: Logger,
  shutdown: Shutdown,
  member: Member | null = null,
): Promise<readonly ListeningAddress[]> {
  for (const port of ownPorts) complete.alsoListensOn(port);
  // Imported only now, because the import is slow and invalid variables must be reported before it.
  const loaded = await import('./bootstrap/service.js');
  blame = loaded.blame;
  const service = await loaded.startService(complete, logger, member);
  shutdown.isUp(service);
  return service.addresses;
}

/** Starts child processes that serve. This process does not load the service. Resolves with the addresses. */
async function serveTogether(
  count: number,
  complete: Config,
  ownPorts: readonly number[],
  logger: Logger,
  shutdown: Shutdown,
): Promise<readonly ListeningAddress[]> {
  const { Fleet } = await import('./bootstrap/processes/fleet.js');
  const { databaseUrl, masterKey } = complete;
  const fleet = new Fleet(
    { count, databaseUrl, masterKey: masterKey.toString('hex'), ownPorts },
    (level, message, fields) => logger[level]({ context: 'Processes', ...fields }, message),
  );
  shutdown.isUp(fleet);
  try {
    return await fleet.start();
  } catch (error) {
    await fleet.retire(0);
    await fleet.drain().catch(() => undefined);
    throw error;
  }
}

/** Serves as one of several processes. The parent has already prepared the database and the master key. */
async function serveAmong(member: Member, config: Config, logger: Logger, shutdown: Shutdown): Promise<void> {
  const { databaseUrl, masterKey, ownPorts } = member.beginning;
  member.orphaned(() => shutdown.end('The process that holds the port is gone; ending.'));
  member.up(
    await serve(config.completedWith(databaseUrl, Buffer.from(masterKey, 'hex')), ownPorts, logger, shutdown, member),
  );
}

mapStacks();
const member = await Member.join();
let config: Config | null = null;
let blame = (error: unknown, _config: Config): unknown => error;

async function fail(error: unknown): Promise<void> {
  const line = startFailure(config === null ? error : blame(error, config), config);
  if (member === null) process.stderr.write(`Posthorn did not start: ${line}\n`);
  else await member.failed(line);
  process.exit(1);
}

// Handles errors that no code catches, for example in an extension.
const failedUnasked = (error: unknown): void => void fail(error);
process.on('uncaughtException', failedUnasked);
try {
  expectNoArguments('start');
  config = loadConfig();
  const plain = createLogger(config, await logOutput());
  const logger = member === null ? plain : plain.child({ process: member.number });
  const shutdown = new Shutdown(config, logger);
  const starting = member === null ? start(config, logger, shutdown) : serveAmong(member, config, logger, shutdown);
  await starting.catch((error: unknown) => {
    if (!shutdown.hasBegun) throw error;
  });
} catch (error) {
  await fail(error);
}
process.off('uncaughtException', failedUnasked);
