import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/bootstrap/embedded.js';
import { eventually, noteForReaper } from '../processes.js';
import { query } from '../storage.js';

const IN_STEP_MS_MAX = 60_000;

/** A primary with a synchronous standby. The standby has every confirmed commit. */
export class PrimaryAndStandby {
  private hasFailedOver = false;

  private constructor(
    private readonly primary: EmbeddedPostgres,
    private readonly standby: EmbeddedPostgres,
  ) {}

  static async start(): Promise<PrimaryAndStandby> {
    const directory = mkdtempSync(path.join(process.env['POSTHORN_TEST_DIR'] ?? tmpdir(), 'standby-'));
    chmodSync(directory, 0o711);
    const primary = await startEmbeddedPostgres({ dataDir: path.join(directory, 'primary'), log: noting() });
    try {
      const copy = path.join(directory, 'standby');
      await copyBase(primary.url, path.join(directory, 'primary'), copy);
      const standby = await startEmbeddedPostgres({ dataDir: copy, log: noting() });
      const pair = new PrimaryAndStandby(primary, standby);
      await pair.inStep();
      return pair;
    } catch (error) {
      await primary.stop();
      throw error;
    }
  }

  /** Returns the address of the current primary. After a failover, this is the former standby. */
  url(): string {
    return this.hasFailedOver ? this.standby.url : this.primary.url;
  }

  /** Stops the primary permanently and promotes the standby. Can be called once. */
  async failOver(): Promise<void> {
    await this.primary.stop();
    this.hasFailedOver = true;
    await query(this.standby.url, 'select pg_promote(true, 30)');
    const [row] = await query<{ waits: boolean }>(this.standby.url, 'select pg_is_in_recovery() as waits');
    if (row?.waits !== false) throw new Error('The standby has not taken over.');
  }

  async stop(): Promise<void> {
    if (!this.hasFailedOver) await this.primary.stop();
    await this.standby.stop();
  }

  /** Makes the primary confirm a commit only after the standby has stored it. */
  private async inStep(): Promise<void> {
    await query(this.primary.url, `alter system set synchronous_standby_names = '*'`);
    await query(this.primary.url, 'select pg_reload_conf()');
    const isSynchronous = (): Promise<boolean> =>
      query(this.primary.url, `select 1 from pg_stat_replication where sync_state = 'sync'`).then(
        ({ length }) => length === 1,
        () => false,
      );
    if (!(await eventually(isSynchronous, IN_STEP_MS_MAX))) throw new Error('The standby does not follow.');
  }
}

/** Makes a base backup with PostgreSQL's low-level backup API. */
async function copyBase(url: string, from: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('standby', true)`);
    mkdirSync(to, { mode: 0o711 });
    execFileSync('cp', ['-a', path.join(from, 'postgres.password'), to]);
    execFileSync('cp', ['-aH', realpathSync(path.join(from, 'postgres')), path.join(to, 'postgres')], {
      stdio: 'ignore',
    });
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    const cluster = path.join(to, 'postgres');
    for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(path.join(cluster, name), { force: true });
    const { uid, gid } = statSync(cluster);
    for (const [name, content] of [
      ['backup_label', rows[0]?.labelfile ?? ''],
      ['standby.signal', ''],
    ] as const) {
      writeFileSync(path.join(cluster, name), content, { mode: 0o600 });
      chownSync(path.join(cluster, name), uid, gid);
    }
    const { hostname, port, username, password } = new URL(url);
    const source = `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`;
    appendFileSync(path.join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  } finally {
    await client.end();
  }
}

function noting(): (line: string, fields?: Readonly<Record<string, unknown>>) => void {
  let retract = (): void => undefined;
  return (_line, fields) => {
    retract();
    retract = noteForReaper(Number(fields?.['pid']) || undefined);
  };
}
