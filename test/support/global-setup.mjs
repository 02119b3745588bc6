// One embedded PostgreSQL for all suites, with fsync on as in production; every suite makes its own database in it.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/src/bootstrap/embedded.js';
import { preparePack } from './pack/prepare.mjs';
import { makeRunFolder } from './run-folder.mjs';

const dist = new URL('../../dist/src/', import.meta.url);
/** From today on: thirty days of retention, and as far ahead of need as the service makes them. */
const DAYS = 34;

export default async function globalSetup() {
  const directory = makeRunFolder();
  mkdirSync(path.join(directory, 'servers'));
  startReaper(directory);
  const postgres = await startEmbeddedPostgres({
    dataDir: path.join(directory, 'data'),
    database: 'posthorn_template',
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
 * No passwords for the suites' own databases: a start of the service opens a handful of connections and works out the proof of
 * its password for each, 4,096 rounds a time; a tenth of a second of CPU in all. Others have them as ever, as do the databases
 * of suites that start a PostgreSQL of their own.
 */
async function trustSuites(folder, url) {
  const rules = path.join(folder, 'pg_hba.conf');
  writeFileSync(rules, `host "/^test_" postgres 127.0.0.1/32 trust\n${readFileSync(rules, 'utf8')}`);
  const client = new pg.Client({ connectionString: url.replace(/posthorn_template$/, 'postgres') });
  await client.connect();
  await client.query('select pg_reload_conf()');
  await client.end();
}

/** A second template, with what the first start on a database would make in it: more than half a second of a core for each suite. */
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

/** Cleans up when this process ends, in whatever way it does: its end closes the pipe that the reaper reads. */
function startReaper(directory) {
  const reaper = spawn(process.execPath, [path.join(import.meta.dirname, 'reaper.mjs'), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  reaper.unref();
  reaper.stdin.unref();
  globalThis.posthornReaper = reaper;
}
