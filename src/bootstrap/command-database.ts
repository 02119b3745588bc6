import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Config, ConfigError } from '#kernel/config/config.js';
import { sqlState } from '#kernel/database/database.js';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from './embedded.js';

const NOT_STARTED = 'Posthorn has not been started on this database yet, or not with this version: start it once.';
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_COLUMN = '42703';

/** Placeholder for the master key in commands that read and write no encrypted data. */
export const NO_MASTER_KEY = Buffer.alloc(32);

/**
 * Runs a command on the database of DATABASE_URL, or else on the embedded database. Starts the embedded database for
 * the duration of the command if it is not running.
 *
 * Throws if there is no database. Throws an error with the message `notStarted` if a table or a column is missing,
 * because Posthorn has not been started on the database.
 */
export async function runOnDatabase<T>(
  config: Config,
  command: (url: string, config: Config) => Promise<T>,
  notStarted = NOT_STARTED,
): Promise<T> {
  try {
    return await runAtUrl(config, command);
  } catch (error) {
    const state = sqlState(error);
    throw state === UNDEFINED_TABLE || state === UNDEFINED_COLUMN ? new ConfigError(notStarted) : error;
  }
}

async function runAtUrl<T>(config: Config, command: (url: string, config: Config) => Promise<T>): Promise<T> {
  if (!config.isEmbedded) return command(config.databaseDirectUrl, config);
  const running = runningEmbeddedPostgres(config.dataDir);
  if (running !== null) return command(running, config);
  const directory = path.resolve(config.dataDir);
  // A command must not create an empty database.
  if (!existsSync(path.join(directory, 'postgres')))
    throw new ConfigError(
      `There is no database in DATA_DIR ${directory}: start Posthorn, or set the DATA_DIR that it uses.`,
    );
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir });
  try {
    return await command(postgres.url, config);
  } finally {
    await postgres.stop();
  }
}
