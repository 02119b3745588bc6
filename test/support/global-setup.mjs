// Starts one embedded PostgreSQL for all suites, with fsync on as in production.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/src/bootstrap/embedded.js';
import { preparePack } from './pack/prepare.mjs';
import { makeRunFolder } from './run-folder.mjs';

const dist = new URL('../../dist/src/', import.meta.url);
/** Number of daily partitions from today on: thirty days of retention, plus those that the service creates ahead. */
const DAYS = 34;

export default async function globalSetup() {
  const directory = makeRunFolder();
  mkdirSync(path.join(directory, 'servers'));
  startReaper(directory);
  const postgres = await startEmbeddedPostgres({
    dataDir: path.join(directory, 'data'),
    database: 'posthorn_template',
    // All suites share this server, and a suite may start several services with twenty connections each.
    settings: { max_connections: '500' },
  });
  globalThis.posthornPostgres = postgres;
  await trustSuites(path.join(directory, 'data', 'postgres'), postgres.url);
  process.env.POSTHORN_TEST_DIR = directory;
  process.env.POSTHORN_TEST_PG = postgres.url;
  if (!existsSync(new URL('bootstrap/migrate.js', dist))) return;
  const { migrate } = await import(new URL('bootstrap/migrate.js', dist));
  await migrate(postgres.url);
  await makeStarted(postgres.url);
  await preparePack(postgres.url);
}

/**
 * Allows connections to the suites' own databases without a password. Each check of a password costs the CPU time of
 * 4,096 hash rounds.
 */
async function trustSuites(folder, url) {
  const rules = path.join(folder, 'pg_hba.conf');
  writeFileSync(rules, `host "/^test_" postgres 127.0.0.1/32 trust\n${readFileSync(rules, 'utf8')}`);
  const client = new pg.Client({ connectionString: url.replace(/posthorn_template$/, 'postgres') });
  await client.connect();
  await client.query('select pg_reload_conf()');
  await client.end();
}

/**
 * Creates a second template with the objects that a first start creates. This saves each suite more than half a second
 * of CPU.
 */
async function makeStarted(template) {
  const url = Object.assign(new URL(template), { pathname: '/posthorn_started' }).href;
  const client = new pg.Client({ connectionString: template.replace(/posthorn_template$/, 'postgres') });
  await client.connect();
  await client.query('CREATE DATABASE posthorn_started TEMPLATE posthorn_template');
  await client.end();
  const [{ prepareQueues }, { dataSource }, { Database }, { PartitionsStore }] = await Promise.all(
    [
      'kernel/concurrency/queue.js',
      'bootstrap/data-source.js',
      'kernel/database/database.js',
      'modules/ledger/partitions.store.js',
    ].map((file) => import(new URL(file, dist))),
  );
  await prepareQueues({ redisUrl: null, databaseDirectUrl: url });
  const database = new Database(await dataSource(url, 2).initialize(), { databaseUrl: url, isPooled: false });
  await new PartitionsStore(database).ensure([DAYS], 0);
  await database.close();
}

/**
 * Starts the reaper, which cleans up when this process ends for any reason: the reaper then reads the end of a pipe
 * from this process.
 */
function startReaper(directory) {
  const reaper = spawn(process.execPath, [path.join(import.meta.dirname, 'reaper.mjs'), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  reaper.unref();
  reaper.stdin.unref();
  globalThis.posthornReaper = reaper;
}
