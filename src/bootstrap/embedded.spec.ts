import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { EmbeddedPostgres } from './embedded.js';
import { startEmbeddedPostgres } from './embedded.js';
import { isRunning } from './embedded/processes.js';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

describe('startEmbeddedPostgres', () => {
  let dataDir: string;
  let postgres: EmbeddedPostgres | null = null;
  const runsAgain: (() => void)[] = [];

  const start = async (): Promise<EmbeddedPostgres> => {
    postgres = await startEmbeddedPostgres({
      dataDir,
      log: (message) => message === 'PostgreSQL runs again.' && runsAgain.splice(0).forEach((resolve) => resolve()),
    });
    return postgres;
  };

  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'posthorn-embedded-'));
  });

  afterEach(async () => {
    await postgres?.stop();
    rmSync(dataDir, { recursive: true });
  });

  it('keeps committed data and the address across a stop', async () => {
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS one');
    await first.stop();

    const second = await start();

    expect(isRunning(second.pid())).toBe(true);
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
    expect(await query(second.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
  });

  it('restarts a killed server at the same address, with the committed data', async () => {
    const { url, pid } = await start();
    await query(url, 'CREATE TABLE kept AS SELECT 1 AS one');
    const killedPid = pid();
    const again = new Promise<void>((resolve) => runsAgain.push(resolve));

    process.kill(killedPid, 'SIGKILL');
    await again;

    expect(pid()).not.toBe(killedPid);
    expect(await query(url, 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  });

  it('a stop ends connections, leaves no process and no lock, and keeps the files private', async () => {
    const { url, pid, stop } = await start();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // pg emits `error` both for the server's termination message and for the closed socket.
    client.on('error', () => {});
    const ended = new Promise((resolve) => client.once('end', () => resolve('ended')));
    const lastPid = pid();

    await stop();

    expect(await ended).toBe('ended');
    expect(isRunning(lastPid)).toBe(false);
    expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.log', 'postgres.password']);
    expect(statSync(path.join(dataDir, 'postgres.password')).mode & 0o777).toBe(0o600);
    expect(statSync(path.join(dataDir, 'postgres')).mode & 0o077).toBe(0);
  });

  it('rejects a second start in the same DATA_DIR while the first one runs', async () => {
    const { url } = await start();

    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(
      `in use by another Posthorn (process ${process.pid})`,
    );
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('reports in one sentence that DATA_DIR cannot be created', async () => {
    postgres = null;

    await expect(startEmbeddedPostgres({ dataDir: '/proc/posthorn' })).rejects.toThrow(
      /^DATA_DIR \/proc\/posthorn can't be written to \(E[A-Z]+\): set another one, or DATABASE_URL\.$/,
    );
  });
});
