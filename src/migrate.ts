import type { DataSource } from 'typeorm';
import { dataSource } from './data-source.js';

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

/**
 * Transaction ids are those of one PostgreSQL cluster. A database that was restored into another one begins a new epoch,
 * so that the order of what is pulled goes on rising.
 */
const BEGIN_EPOCH = `
  insert into cluster_epochs (system_identifier, epoch)
  select system_identifier, coalesce((select max(epoch) from cluster_epochs), 0) + 1 from pg_control_system()
  on conflict (system_identifier) do nothing`;

/** Brings a connected database up to date. Several processes may start at once: an advisory lock puts them in line. */
export async function runMigrations(source: DataSource): Promise<void> {
  const runner = source.createQueryRunner();
  try {
    await runner.query(`select pg_advisory_lock(hashtext('posthorn migrations'))`);
    await source.runMigrations();
    await runner.query(BEGIN_EPOCH);
  } finally {
    await runner.query(`select pg_advisory_unlock(hashtext('posthorn migrations'))`).catch(() => undefined);
    await runner.release();
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
