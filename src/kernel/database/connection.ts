import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { ConnectionWatch, type Verdicts, type Watched } from './connection-watch.js';

/** What connections are made for. */
export interface ConnectionPurpose {
  url: string;
  /** Their application_name. */
  name: string;
  /** How long a statement may take that the server works on; Infinity where it may take its time. */
  deadlineMs: number;
  /** Settings of the session, `name=value`. Not for connections through a pooler, which refuses them or drops them. */
  settings?: readonly string[];
  /** Through a pooler that may give each transaction to another connection. */
  isPooled?: boolean;
}

/** How long connecting may take, until the server is ready for the first statement. */
const DIAL_MS_MAX = 4_000;
/** How long a statement waits for a free connection of its pool. */
const WAIT_MS_MAX = 5_000;
const KEEP_ALIVE_AFTER_MS = 10_000;

/** Options of a pool, or of a single `Connection`. */
export function connectionOptions({
  url,
  name,
  deadlineMs,
  settings = [],
  isPooled = false,
}: ConnectionPurpose): pg.PoolConfig {
  const options: pg.PoolConfig & ConnectionOptions = {
    connectionString: url,
    application_name: name,
    Client: Connection,
    connectionTimeoutMillis: WAIT_MS_MAX,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    deadlineMs,
    isPooled,
    ...(settings.length > 0 && !isPooled ? { options: settings.map((setting) => `-c ${setting}`).join(' ') } : {}),
  };
  return options;
}

interface ConnectionOptions extends pg.ClientConfig {
  deadlineMs?: number;
  isPooled?: boolean;
  /** False for the second connection that asks about the others. */
  isWatched?: boolean;
}

/**
 * A connection to PostgreSQL, in whatever pool: none of its states ends the process, and it never waits for ever.
 *
 * An `error` that nobody listens to ends a process, and between two owners of a pool's connection nobody does. Such an
 * error is kept for the next one who listens: whoever is handed a connection that broke a moment ago has to hear it.
 */
export class Connection extends pg.Client implements Watched {
  readonly url: string;
  readonly isPooled: boolean;
  readonly deadlineMs: number;
  private unheard: unknown;

  constructor(options: ConnectionOptions = {}) {
    super({
      ...options,
      connectionTimeoutMillis: Math.min(DIAL_MS_MAX, options.connectionTimeoutMillis ?? DIAL_MS_MAX),
    });
    this.url = options.connectionString ?? '';
    this.isPooled = options.isPooled ?? false;
    this.deadlineMs = options.deadlineMs ?? Infinity;
    (this as EventEmitter).on('newListener', (event) => event === 'error' && this.tellUnheard());
    if (options.isWatched === false) return;
    super.on('connect', () => watch.add(this));
    super.on('end', () => watch.remove(this));
  }

  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event !== 'error' || this.listenerCount('error') > 0) return super.emit(event, ...values);
    this.unheard = values[0];
    return false;
  }

  get backendPid(): number | null {
    return this.internals.processID ?? null;
  }

  statement(): object | null {
    return this.internals._activeQuery ?? null;
  }

  ping(): void {
    if (this.statement() !== null || this.getTransactionStatus() !== 'I') return;
    this.query('select 1').catch(() => undefined);
  }

  giveUp(reason: string): void {
    this.connection.stream.destroy(Object.assign(new Error(reason), { code: 'ETIMEDOUT' }));
  }

  private tellUnheard(): void {
    if (this.unheard === undefined) return;
    const error = this.unheard;
    this.unheard = undefined;
    process.nextTick(() => this.emit('error', error));
  }

  /** What node-postgres knows and has no public name for; `connection.spec.ts` fails when a release renames it. */
  private get internals(): { processID?: number | null; _activeQuery?: object | null } {
    return this as unknown as { processID?: number | null; _activeQuery?: object | null };
  }
}

const ASK_MS_MAX = 2_000;
const COMMIT_MS_MAX = 1_000;
const STATES = `
  select pid, coalesce(state, '') as state, coalesce(wait_event_type, '') as waits_for
  from pg_stat_activity where pid = any($1::int[])`;
/** A commit that goes to the disk and leaves nothing behind. */
const COMMIT = `select pg_logical_emit_message(true, 'posthorn', '')`;

const watch = new ConnectionWatch(async (url, isPooled, backendPids) => {
  const client = new Connection({
    connectionString: url,
    application_name: 'posthorn-watch',
    query_timeout: ASK_MS_MAX,
    connectionTimeoutMillis: ASK_MS_MAX,
    isWatched: false,
  });
  try {
    await client.connect();
    return isPooled ? await askStorage(client) : await askProcesses(client, backendPids);
  } catch {
    return null;
  } finally {
    void client.end().catch(() => undefined);
  }
});

async function askProcesses(client: Connection, backendPids: readonly number[]): Promise<Verdicts> {
  const { rows } = await client.query<{ pid: number; state: string; waits_for: string }>(STATES, [[...backendPids]]);
  const states = new Map(rows.map((row) => [row.pid, row]));
  return new Map(
    backendPids.map((pid) => {
      const row = states.get(pid);
      if (row?.state === 'disabled') return [pid, 'unknown'];
      // One that waits for its client has sent an answer that did not arrive, or has not heard the whole question.
      return [pid, row?.state === 'active' && row.waits_for !== 'Client' ? 'works' : 'rests'];
    }),
  );
}

/** Through a pooler nobody knows which process it is; but when no commit ends, it is the storage that is slow. */
async function askStorage(client: Connection): Promise<Verdicts> {
  await client.query('select 1');
  const committed = client.query(COMMIT).then(
    () => 'unknown' as const,
    () => 'unknown' as const,
  );
  let timer: NodeJS.Timeout | undefined;
  const slow = new Promise<'works'>((resolve) => (timer = setTimeout(() => resolve('works'), COMMIT_MS_MAX)));
  const verdict = await Promise.race([committed, slow]);
  clearTimeout(timer);
  return new Map([[0, verdict]]);
}
