import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { type Config, ConfigError, loadConfig } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import { type ReportRow, ReportsStore } from '#modules/feedback/reports.store.js';
import { NO_MASTER_KEY, runOnDatabase } from '../bootstrap/command-database.js';
import { openDatabase } from '../bootstrap/data-source.js';
import { argumentsOf } from '../bootstrap/server-commands.js';
import { startFailure } from '../bootstrap/start-failure.js';

const LISTED_MAX = 100;

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
    // parseArgs throws for an unknown option. The error below covers this case too.
  }
  throw new ConfigError('The only option is --raw rep_….');
}

let config: Config | null = null;
try {
  const rawOf = optionsOf(argumentsOf('mail-reports'));
  config = loadConfig();
  process.stdout.write(await runOnDatabase(config, (url, given) => runAt(url, given, rawOf)));
} catch (error) {
  process.stderr.write(`${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
