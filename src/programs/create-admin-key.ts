import 'reflect-metadata';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { SystemClock } from '#kernel/clock.js';
import { type Config, ConfigError, loadConfig } from '#kernel/config/config.js';
import { Database, sqlState } from '#kernel/database/database.js';
import { Ids } from '#kernel/ids.js';
import { AdminKeys } from '#modules/auth/keys/admin-keys.js';
import { KeyIssuer } from '#modules/auth/keys/key-issuer.js';
import { KeysStore } from '#modules/auth/keys/keys.store.js';
import { OrganizationsStore } from '#modules/auth/organizations/own-organization.store.js';
import { openDatabase } from '../bootstrap/data-source.js';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../bootstrap/embedded.js';
import { startFailure } from '../bootstrap/start-failure.js';

const NOT_STARTED = 'Posthorn has not been started on this database yet: its first start prints admin keys.';
const UNDEFINED_TABLE = '42P01';

/** Dummy key: API keys are not encrypted, so the database can be opened without the master key. */
const NO_MASTER_KEY = Buffer.alloc(32);

/** Creates the key in the database of DATABASE_URL or in the embedded database, whether the service runs or not. */
async function create(config: Config, mode: 'live' | 'test'): Promise<string> {
  if (!config.isEmbedded) return createAt(config.databaseDirectUrl, config, mode);
  const running = runningEmbeddedPostgres(config.dataDir);
  if (running !== null) return createAt(running, config, mode);
  const directory = path.resolve(config.dataDir);
  // Fails if there is no database yet, because this command must not create an empty one.
  if (!existsSync(path.join(directory, 'postgres')))
    throw new ConfigError(
      `There is no database in DATA_DIR ${directory}: start Posthorn, or set the DATA_DIR that it uses.`,
    );
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir });
  try {
    return await createAt(postgres.url, config, mode);
  } finally {
    await postgres.stop();
  }
}

async function createAt(url: string, config: Config, mode: 'live' | 'test'): Promise<string> {
  const source = await openDatabase(url);
  const database = new Database(source, config.completedWith(url, NO_MASTER_KEY));
  try {
    const clock = new SystemClock();
    const keys = new KeysStore(database);
    const issuer = new KeyIssuer(keys, new Ids(clock), clock);
    const key = await new AdminKeys(database, new OrganizationsStore(database), keys, issuer).create(mode);
    if (key === null) throw new ConfigError(NOT_STARTED);
    return key;
  } catch (error) {
    throw sqlState(error) === UNDEFINED_TABLE ? new ConfigError(NOT_STARTED) : error;
  } finally {
    await database.close();
  }
}

function modeOf(given: string[]): 'live' | 'test' {
  try {
    const { env } = parseArgs({ args: given, options: { env: { type: 'string', default: 'live' } } }).values;
    if (env === 'live' || env === 'test') return env;
  } catch {
    // Unknown options fall through to the message for invalid options.
  }
  throw new ConfigError('The only option is --env live or --env test: `npm run create-admin-key -- --env test`.');
}

let config: Config | null = null;
try {
  const mode = modeOf(process.argv.slice(2));
  config = loadConfig();
  const key = await create(config, mode);
  process.stdout.write(
    `${mode === 'live' ? 'Live' : 'Test'} admin key: ${key}\nIt is not shown again. Revoke lost keys with DELETE /v1/keys/{id}.\n`,
  );
} catch (error) {
  process.stderr.write(`No admin key was made: ${startFailure(error, config)}\n`);
  process.exitCode = 1;
}
