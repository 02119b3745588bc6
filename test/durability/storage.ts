import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { EmbeddedPostgres } from '../../src/bootstrap/embedded.js';
import { startEmbeddedPostgres } from '../../src/bootstrap/embedded.js';
import type { Outage } from './checker.js';
import { eventually, noteForReaper } from './processes.js';

/** The part of PostgreSQL to kill: one client's server process, the postmaster, or all processes at once. */
export type Blow = 'backend' | 'postmaster' | 'everything';

const BACK_MS_MAX = 60_000;
const DEADLOCK = '40P01';
const DEADLOCKS_MAX = 10;

/** A durable PostgreSQL server that is restarted on the same port after a kill. */
export class KillablePostgres {
  readonly outages: Outage[] = [];

  private constructor(private readonly server: EmbeddedPostgres) {}

  /** Starts a server, by default in a new directory. Adds `settings` to the settings of the embedded server. */
  static async start(
    options: { directory?: string; settings?: Readonly<Record<string, string>> } = {},
  ): Promise<KillablePostgres> {
    const directory =
      options.directory ?? mkdtempSync(path.join(process.env['POSTHORN_TEST_DIR'] ?? tmpdir(), 'durability-'));
    let retract = (): void => undefined;
    const log = (_line: string, fields?: Readonly<Record<string, unknown>>): void => {
      retract();
      retract = noteForReaper(Number(fields?.['pid']) || undefined);
    };
    return new KillablePostgres(
      await startEmbeddedPostgres({ dataDir: path.join(directory, 'data'), settings: options.settings ?? {}, log }),
    );
  }

  get url(): string {
    return this.server.url;
  }

  /** Returns the process id of the current postmaster. */
  pid(): number {
    return this.server.pid();
  }

  /** Prepares a kill. Returns a function that kills without delay. */
  async aim(blow: Blow): Promise<() => void> {
    const witness = await connect(this.url);
    const { rows } = await witness.query<{ pid: number; application_name: string }>(
      'select pid, application_name from pg_stat_activity',
    );
    const client = rows.find(({ application_name: name }) => name.startsWith('posthorn')) ?? rows[0];
    const pids = { backend: client ? [client.pid] : [], postmaster: [], everything: rows.map(({ pid }) => pid) }[blow];
    return () => {
      this.noteOutage(witness);
      // Kills the postmaster first, because a live postmaster would restart its children.
      for (const pid of blow === 'backend' ? pids : [this.server.pid(), ...pids]) strike(pid);
    };
  }

  /** Resolves once PostgreSQL answers again. */
  async back(): Promise<void> {
    await eventually(() => this.outages.every(({ toMs }) => toMs < Infinity), BACK_MS_MAX);
  }

  async stop(): Promise<void> {
    await this.server.stop();
  }

  /**
   * Records an outage from the kill until a new connection succeeds. `witness` is a connection from before the kill.
   */
  private noteOutage(witness: pg.Client): void {
    const outage: Outage = { fromMs: Date.now(), toMs: Infinity };
    this.outages.push(outage);
    const answers = (): Promise<boolean> =>
      query(this.url, 'select 1').then(
        () => true,
        () => false,
      );
    witness.once('end', () => {
      void eventually(answers, BACK_MS_MAX, 20).then(() => (outage.toMs = Date.now()));
    });
  }
}

/** Returns the rows of one statement, run on a separate connection. */
export async function query<R extends pg.QueryResultRow>(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const client = await connect(url);
  try {
    return (await client.query<R>(statement, [...values])).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Terminates all connections with the error 57P01, as a managed PostgreSQL does at a failover. */
export const terminateAll = (url: string): Promise<unknown> =>
  query(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'durability',
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Empties every table of the job queue, except the table that stores the schema version of the queue. */
export async function emptyQueueTables(url: string): Promise<void> {
  const tables = await query<{ name: string }>(
    url,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'bullmq' and tablename <> 'migration'`,
  );
  if (tables.length === 0) throw new Error('There are no queue tables in schema bullmq.');
  const truncate = `truncate ${tables.map(({ name }) => name).join(', ')} cascade`;
  for (let tries = 1; ; tries += 1) {
    try {
      await query(url, truncate);
      return;
    } catch (error) {
      // The statement locks all tables, so PostgreSQL may cancel it to resolve a deadlock.
      if ((error as { code?: string }).code !== DEADLOCK || tries === DEADLOCKS_MAX) throw error;
    }
  }
}

/** Returns the number of deliveries that the service still has to make. */
export async function openDeliveries(url: string): Promise<number> {
  const [row] = await query<{ count: number }>(url, 'select count(*)::int as count from due_deliveries');
  return row?.count ?? Infinity;
}

function strike(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ignores the error, because the process has already exited.
  }
}
