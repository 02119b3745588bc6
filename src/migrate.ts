import { DataSource, type QueryRunner } from 'typeorm';
import { dataSource } from './data-source.js';
import type { LoadedExtension } from './extensions.js';

const ATTEMPTS = 30;
const RETRY_MS = 1_000;

/** Connects, waiting for a server that is still starting, for up to half a minute; `onWait` is told once. */
export async function connect(source: DataSource, onWait: () => void = () => undefined): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await source.initialize();
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !isAway(error)) throw error;
      if (attempt === 1) onWait();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Whether the newest epoch is that of the cluster and the timeline that the database is on now. */
const IS_EPOCH_CURRENT = `
  select 1 from cluster_epochs c, pg_control_system() s, pg_control_checkpoint() k
  where c.epoch = (select max(epoch) from cluster_epochs) and c.system_identifier = s.system_identifier and c.timeline_id = k.timeline_id`;

const BEGIN_EPOCH = `
  insert into cluster_epochs (epoch, system_identifier, timeline_id)
  select coalesce((select max(epoch) from cluster_epochs), 0) + 1, s.system_identifier, k.timeline_id
  from pg_control_system() s, pg_control_checkpoint() k`;

/**
 * Transaction ids are those of one PostgreSQL cluster and timeline. A database that is found on another one begins a
 * new epoch, so that the order of what is pulled goes on rising. The lock waits for whoever is still writing items of the
 * old one: a reader takes every old item for committed.
 */
async function beginEpoch(runner: QueryRunner): Promise<void> {
  const current = (await runner.query(IS_EPOCH_CURRENT)) as unknown as unknown[];
  if (current.length > 0) return;
  await runner.startTransaction();
  await runner.query('lock table pull_items in share row exclusive mode');
  await runner.query(BEGIN_EPOCH);
  await runner.commitTransaction();
}

/** What of an extension concerns the schema. */
type ExtensionTables = Pick<LoadedExtension, 'name' | 'migrations'>;

/**
 * Brings a connected database up to date, with the tables of extensions after our own. Several processes may start at
 * once: an advisory lock puts them in line.
 */
export async function runMigrations(source: DataSource, extensions: readonly ExtensionTables[] = []): Promise<void> {
  const runner = source.createQueryRunner();
  try {
    await runner.query(`select pg_advisory_lock(hashtext('posthorn migrations'))`);
    await source.runMigrations();
    await beginEpoch(runner);
    for (const extension of extensions) await migrateExtension(source, extension);
  } finally {
    await runner.query(`select pg_advisory_unlock(hashtext('posthorn migrations'))`).catch(() => undefined);
    await runner.release();
  }
}

/** Recorded in `<name>_migrations`: without the extension nobody reads that, and its tables stay as they are. */
async function migrateExtension(source: DataSource, { name, migrations }: ExtensionTables): Promise<void> {
  if (migrations.length === 0) return;
  const own = new DataSource({ ...source.options, entities: [], migrations: [...migrations], migrationsTableName: `${name}_migrations` });
  try {
    await own.initialize();
    await own.runMigrations();
  } catch (error) {
    throw new Error(`The migrations of the extension ${name} failed: ${(error as Error).message}`);
  } finally {
    if (own.isInitialized) await own.destroy();
  }
}

/** Brings the database at `url` up to date. */
export async function migrate(url: string): Promise<void> {
  const source = dataSource(url);
  await connect(source);
  try {
    await runMigrations(source);
  } finally {
    await source.destroy();
  }
}

function isAway(error: unknown): boolean {
  const code = (error as { code?: string }).code ?? '';
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', '57P03'].includes(code);
}
