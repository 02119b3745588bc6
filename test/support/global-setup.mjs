// One embedded PostgreSQL for all suites, with fsync on as in production; every suite makes its own database in it.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../dist/src/embedded.js';

const migrations = new URL('../../dist/src/migrate.js', import.meta.url);

export default async function globalSetup() {
  const directory = mkdtempSync(path.join(tmpdir(), 'posthorn-test-'));
  // As root, PostgreSQL runs as another user, who must be able to pass.
  chmodSync(directory, 0o711);
  mkdirSync(path.join(directory, 'servers'));
  startReaper(directory);
  const postgres = await startEmbeddedPostgres({ dataDir: path.join(directory, 'data'), database: 'posthorn_template' });
  globalThis.posthornPostgres = postgres;
  process.env.POSTHORN_TEST_DIR = directory;
  process.env.POSTHORN_TEST_PG = postgres.url;
  if (existsSync(migrations)) {
    const { migrate } = await import(migrations);
    await migrate(postgres.url);
  }
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
