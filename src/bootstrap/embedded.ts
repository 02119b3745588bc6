import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { accountFor } from './embedded/account.js';
import { locateBinaries } from './embedded/binaries.js';
import { clusterLink, makeDataDir, openCluster, passwordOf, readPidFile } from './embedded/cluster.js';
import { errorCode } from './embedded/failure.js';
import { lockDirectory } from './embedded/lock.js';
import { isServerOf } from './embedded/processes.js';
import { serverSettings } from './embedded/settings.js';
import type { Log } from './embedded/supervisor.js';
import { Supervisor } from './embedded/supervisor.js';

export interface EmbeddedPostgres {
  /** Connection URL, including the password. Stays valid when the server crashes and is restarted. */
  readonly url: string;
  pid(): number;
  /** Shuts the server down (fast mode) and disables restarts. DATA_DIR is then free for another process. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Directory of the database, its password, log and lock. Created if it does not exist. */
  readonly dataDir: string;
  /** Database to connect to, created if it does not exist. Default: `posthorn`. */
  readonly database?: string;
  /** Server settings in addition to Posthorn's defaults. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called with one line for every start, adoption, crash and stop of the server. */
  readonly log?: Log;
}

const DUPLICATE_DATABASE = '42P04';

/**
 * Starts the PostgreSQL that npm installed, on 127.0.0.1 and in DATA_DIR, and restarts it after a crash.
 *
 * The server is durable (fsync is on). It keeps running if this process crashes, and the next process adopts it. Only
 * one process at a time may use a DATA_DIR.
 *
 * @throws EmbeddedPostgresError with one sentence for the operator as its message.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const database = options.database ?? 'posthorn';
  const dataDir = makeDataDir(options.dataDir);
  const unlock = lockDirectory(dataDir);
  try {
    const { supervisor, password } = await startServer(dataDir, options);
    const urlOf = (name: string): string => urlFor(password, supervisor.port, name);
    const stop = async (): Promise<void> => {
      await supervisor.stop();
      unlock();
    };
    try {
      await ensureDatabase(urlOf('postgres'), database);
    } catch (error) {
      await stop();
      throw error;
    }
    return { url: urlOf(database), pid: () => supervisor.pid, stop };
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Returns the URL of the server that another process runs in DATA_DIR, or null if no server there accepts connections.
 */
export function runningEmbeddedPostgres(dataDir: string, database = 'posthorn'): string | null {
  const directory = path.resolve(dataDir);
  const link = clusterLink(directory);
  if (!existsSync(link)) return null;
  const cluster = realpathSync(link);
  const file = readPidFile(cluster);
  return file !== null && file.isReady && isServerOf(file.pid, cluster)
    ? urlFor(passwordOf(directory), file.port, database)
    : null;
}

function urlFor(password: string, port: number, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

async function startServer(
  dataDir: string,
  { settings = {}, log = () => {} }: EmbeddedPostgresOptions,
): Promise<{ supervisor: Supervisor; password: string }> {
  const account = accountFor(clusterLink(dataDir));
  const binaries = await locateBinaries(account);
  const cluster = openCluster(dataDir, account, binaries);
  const supervisor = new Supervisor({ cluster, binaries, account, settings: serverSettings(settings) }, log);
  await supervisor.start();
  return { supervisor, password: cluster.password };
}

async function ensureDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  // Ignores this event. If the server crashes, the pending call below throws the same error.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    // The default strategy (WAL_LOG) would copy the template database through shared buffers, whose memory then stays
    // allocated.
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)} STRATEGY FILE_COPY`);
  } catch (error) {
    if (errorCode(error) !== DUPLICATE_DATABASE) throw error;
  } finally {
    await client.end();
  }
}
