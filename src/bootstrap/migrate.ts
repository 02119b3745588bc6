import { DataSource, type QueryRunner } from 'typeorm';
import { prepareQueues } from '#kernel/concurrency/queue.js';
import { type Config, ConfigError } from '#kernel/config/config.js';
import { IS_EPOCH_RECORDED, LOCK_FOR_EPOCH, RECORD_EPOCH } from '#kernel/database/cluster-epochs.js';
import { checkDatabaseConnections } from '#kernel/database/connection-check.js';
import { isUnreachable, retryUntilAvailable } from '#kernel/database/retry-until-available.js';
import { dataSource, refuseNewerSchema } from './data-source.js';
import type { LoadedExtension } from './extensions.js';

/** Connects, and waits while the server is unavailable or starting. Calls `onWait` once if it has to wait. */
export async function connect(source: DataSource, onWait: () => void = () => undefined): Promise<void> {
  await retryUntilAvailable(() => source.initialize(), onWait);
}

/**
 * Begins a new epoch if the database has moved to another PostgreSQL cluster or timeline, for example by a restore.
 * Positions of pulled items consist of an epoch and a transaction id. Transaction ids ascend only within one cluster
 * and timeline, so the new epoch keeps the positions ascending.
 *
 * Readers treat all transactions of an old epoch as committed. The lock therefore first waits for transactions that
 * still write items.
 */
async function beginEpoch(runner: QueryRunner): Promise<void> {
  const current = (await runner.query(IS_EPOCH_RECORDED)) as unknown as unknown[];
  if (current.length > 0) return;
  await runner.startTransaction();
  await runner.query(LOCK_FOR_EPOCH);
  await runner.query(RECORD_EPOCH);
  await runner.commitTransaction();
}

/** Oldest supported major version of PostgreSQL, as stated in `docs/deploy.md`. */
const VERSION_MIN = 15;

async function checkVersion(runner: QueryRunner): Promise<void> {
  const [server] = (await runner.query(
    `select current_setting('server_version_num')::int / 10000 as version`,
  )) as unknown as { version: number }[];
  const { version = 0 } = server ?? {};
  if (version < VERSION_MIN)
    throw new ConfigError(
      `DATABASE_URL leads to PostgreSQL ${version}, which is too old: Posthorn needs ${VERSION_MIN} or newer.`,
    );
}

type ExtensionTables = Pick<LoadedExtension, 'name' | 'migrations'>;

/** Migrates Posthorn's tables, then those of extensions. An advisory lock serializes concurrent starts. */
export async function runMigrations(source: DataSource, extensions: readonly ExtensionTables[] = []): Promise<void> {
  // Starts over if the server becomes unavailable. This is safe, because each migration is one transaction or can be
  // repeated.
  await retryUntilAvailable(() => runInLine(source, extensions));
}

async function runInLine(source: DataSource, extensions: readonly ExtensionTables[]): Promise<void> {
  const runner = source.createQueryRunner();
  try {
    await checkVersion(runner);
    await runner.query(`select pg_advisory_lock(hashtext('posthorn migrations'))`);
    await refuseNewerSchema(source);
    await source.runMigrations();
    await beginEpoch(runner);
    for (const extension of extensions) await migrateExtension(source, extension);
  } finally {
    await runner.query(`select pg_advisory_unlock(hashtext('posthorn migrations'))`).catch(() => undefined);
    await runner.release();
  }
}

/** Applies an extension's migrations and records them in `<name>_migrations`. */
async function migrateExtension(source: DataSource, { name, migrations }: ExtensionTables): Promise<void> {
  if (migrations.length === 0) return;
  const own = new DataSource({
    ...source.options,
    entities: [],
    migrations: [...migrations],
    migrationsTableName: `${name}_migrations`,
  });
  try {
    await own.initialize();
    await refuseNewerSchema(own, name);
    await own.runMigrations();
  } catch (error) {
    if (isUnreachable(error) || error instanceof ConfigError) throw error;
    throw new Error(`The migrations of the extension ${name} failed: ${(error as Error).message}`);
  } finally {
    if (own.isInitialized) await own.destroy();
  }
}

/** Prepares the database at start, on separate connections that bypass the pooler and have no statement timeout. */
export async function migrateOnce(
  config: Config,
  extensions: readonly ExtensionTables[],
  onWait?: () => void,
): Promise<void> {
  const source = dataSource(config.databaseDirectUrl, 2, [], { migratesOnly: true });
  await connect(source, onWait);
  try {
    await checkDatabaseConnections(config);
    await runMigrations(source, extensions);
    await prepareQueues(config);
  } finally {
    await source.destroy();
  }
}

export async function migrate(url: string): Promise<void> {
  const source = dataSource(url, 4, [], { migratesOnly: true });
  await connect(source);
  try {
    await runMigrations(source);
  } finally {
    await source.destroy();
  }
}
