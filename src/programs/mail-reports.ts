import 'reflect-metadata';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Config, ConfigError, loadConfig } from '#kernel/config/config.js';
import { Database, sqlState } from '#kernel/database/database.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import { type ReportRow, ReportsStore } from '#modules/feedback/reports.store.js';
import { openDatabase } from '../bootstrap/data-source.js';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../bootstrap/embedded.js';
import { startFailure } from '../bootstrap/start-failure.js';

const NOT_STARTED = 'Posthorn has not been started on this database yet, or not with this version: start it once.';
const UNDEFINED_TABLE = '42P01';
const LISTED_MAX = 100;
/** Dummy key: reports are not encrypted, so the database can be opened without the master key. */
const NO_MASTER_KEY = Buffer.alloc(32);

/** Uses the database of DATABASE_URL or the embedded database, whether the service runs or not. */
async function run(config: Config, rawOf: Id | null): Promise<Buffer | string> {
  if (!config.isEmbedded) return runAt(config.databaseDirectUrl, config, rawOf);
  const running = runningEmbeddedPostgres(config.dataDir);
  if (running !== null) return runAt(running, config, rawOf);
  const directory = path.resolve(config.dataDir);
  // Fails if there is no database yet, because this command must not create an empty one.
  if (!existsSync(path.join(directory, 'postgres')))
    throw new ConfigError(
      `There is no database in DATA_DIR ${directory}: start Posthorn, or set the DATA_DIR that it uses.`,
    );
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir });
  try {
    return await runAt(postgres.url, config, rawOf);
  } finally {
    await postgres.stop();
  }
}

async function runAt(url: string, config: Config, rawOf: Id | null): Promise<Buffer | string> {
  const source = await openDatabase(url);
  const database = new Database(source, config.completedWith(url, NO_MASTER_KEY));
  try {
    const store = new ReportsStore(database);
    if (rawOf === null) return (await store.unexplained(LISTED_MAX)).map(line).join('');
    const raw = await store.raw(rawOf);
    if (raw === null)
      throw new ConfigError('This report does not exist: it may be older than its 30 days of retention.');
    return raw;
  } catch (error) {
    throw sqlState(error) === UNDEFINED_TABLE ? new ConfigError(NOT_STARTED) : error;
  } finally {
    await database.close();
  }
}

function line({
  id,
  receivedAt,
  source,
  state,
  reason,
  kind,
  emailId,
  recipient,
  receivedFrom,
  sizeBytes,
}: ReportRow): string {
  const email = emailId === null ? '-' : showId('evt', emailId);
  return `${[showId('rep', id), receivedAt.toISOString(), source, state, reason ?? '-', kind ?? '-', email, recipient, receivedFrom || '-', `${sizeBytes} bytes`].join('  ')}\n`;
}

function optionsOf(given: string[]): Id | null {
  try {
    const { raw } = parseArgs({ args: given, options: { raw: { type: 'string' } } }).values;
    const id = raw === undefined ? null : parseId('rep', raw);
    if (raw === undefined || id !== null) return id;
  } catch {
    // The error below reports unknown options as well.
  }
  throw new ConfigError('The only option is --raw rep_….');
}

let config: Config | null = null;
try {
  config = loadConfig();
  process.stdout.write(await run(config, optionsOf(process.argv.slice(2))));
} catch (error) {
  process.stderr.write(`${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
