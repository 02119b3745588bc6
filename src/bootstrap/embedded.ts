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

/** A running PostgreSQL of our own. */
export interface EmbeddedPostgres {
  /** The connection URL, with its password. It stays valid when the server dies and is started again. */
  readonly url: string;
  /** The process id of the server as it is now. */
  pid(): number;
  /** A fast shutdown; nothing starts the server again, and DATA_DIR is free for another process. */
  stop(): Promise<void>;
}

/** What to start. */
export interface EmbeddedPostgresOptions {
  /** Where the database, its password, its log and the lock live; made when it does not exist. */
  readonly dataDir: string;
  /** The database to connect to, made when it does not exist; `posthorn` by default. */
  readonly database?: string;
  /** Server settings on top of our own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Takes a line for every start, adoption, death and stop. */
  readonly log?: Log;
}

const DUPLICATE_DATABASE = '42P04';

/**
 * Starts the PostgreSQL that npm installed, on 127.0.0.1 and under DATA_DIR, and keeps it running.
 *
 * It is durable (fsync is on), survives the death of this process and is then adopted by the
 * next one. Only one process at a time may work on a DATA_DIR.
 *
 * @throws EmbeddedPostgresError, whose message is one sentence for the operator.
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
 * The address of the server that runs under DATA_DIR already, started by another process; null when none does, or none
 * that takes connections.
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
  // A server that dies meanwhile ends the connection; the pending call below reports it.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    // By files: its own way takes all of the template through shared memory, which then stays written.
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)} STRATEGY FILE_COPY`);
  } catch (error) {
    if (errorCode(error) !== DUPLICATE_DATABASE) throw error;
  } finally {
    await client.end();
  }
}
