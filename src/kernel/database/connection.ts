import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { ConnectionWatch, type Verdicts, type Watched } from './connection-watch.js';

export interface ConnectionPurpose {
  url: string;
  /** Value of `application_name`. */
  name: string;
  /** Maximum time that the server may execute a statement. Infinity for no limit. */
  deadlineMs: number;
  /** Session settings as `name=value`. Must be omitted behind a pooler, which rejects or drops session settings. */
  settings?: readonly string[];
  /** True for connections through a pooler that may assign each transaction to another connection. */
  isPooled?: boolean;
}

/** Time limit from the start of the connection until the server is ready for the first statement. */
const DIAL_MS_MAX = 4_000;
/** Maximum wait for a free connection of the pool. */
const WAIT_MS_MAX = 5_000;
const KEEP_ALIVE_AFTER_MS = 10_000;

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
  /** False for the connection over which `ConnectionWatch` checks the other connections. */
  isWatched?: boolean;
}

/**
 * A connection to PostgreSQL, pooled or not. It never crashes the process and never waits forever.
 *
 * An idle pooled connection has no `error` listener, and an `error` event without a listener would end the process. The
 * connection therefore stores such an error and reports it to the next listener.
 */
export class Connection extends pg.Client implements Watched {
  readonly url: string;
  readonly isPooled: boolean;
  readonly deadlineMs: number;
  private pendingError: unknown;

  constructor(options: ConnectionOptions = {}) {
    super({
      ...options,
      connectionTimeoutMillis: Math.min(DIAL_MS_MAX, options.connectionTimeoutMillis ?? DIAL_MS_MAX),
    });
    this.url = options.connectionString ?? '';
    this.isPooled = options.isPooled ?? false;
    this.deadlineMs = options.deadlineMs ?? Infinity;
    (this as EventEmitter).on('newListener', (event) => event === 'error' && this.emitPendingError());
    if (options.isWatched === false) return;
    super.on('connect', () => watch.add(this));
    super.on('end', () => watch.remove(this));
  }

  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event !== 'error' || this.listenerCount('error') > 0) return super.emit(event, ...values);
    this.pendingError = values[0];
    return false;
  }

  get backendPid(): number | null {
    return this.internals.processID ?? null;
  }

  statement(): object | null {
    return this.internals._activeQuery ?? null;
  }

  progress(): number {
    const { bytesRead = 0, _handle: handle } = this.connection.stream as MeteredSocket;
    return bytesRead - (handle?.writeQueueSize ?? 0);
  }

  ping(): void {
    if (this.statement() !== null || this.getTransactionStatus() !== 'I') return;
    this.query('select 1').catch(() => undefined);
  }

  giveUp(reason: string): void {
    this.connection.stream.destroy(Object.assign(new Error(reason), { code: 'ETIMEDOUT' }));
  }

  private emitPendingError(): void {
    if (this.pendingError === undefined) return;
    const error = this.pendingError;
    this.pendingError = undefined;
    process.nextTick(() => this.emit('error', error));
  }

  /** Private properties of node-postgres. `connection.spec.ts` fails if a release renames them. */
  private get internals(): { processID?: number | null; _activeQuery?: object | null } {
    return this as unknown as { processID?: number | null; _activeQuery?: object | null };
  }
}

/**
 * Internal counters of a socket. Node.js counts bytes as written before they are sent, so the handle's queue of unsent
 * bytes is read instead.
 */
interface MeteredSocket {
  bytesRead?: number;
  _handle?: { writeQueueSize?: number } | null;
}

const ASK_MS_MAX = 2_000;
const COMMIT_MS_MAX = 1_000;
const STATES = `
  select pid, coalesce(state, '') as state, coalesce(wait_event_type, '') as waits_for
  from pg_stat_activity where pid = any($1::int[])`;
/** SQL for a commit that is written to disk but leaves no data behind. */
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
      // A backend that waits for its client is not executing the statement. Either its response or a part of the
      // statement was lost.
      return [pid, row?.state === 'active' && row.waits_for !== 'Client' ? 'works' : 'rests'];
    }),
  );
}

/**
 * Times a test commit, because no backend can be observed behind a pooler. Returns `works` if the commit is slow,
 * because slow storage then explains the missing response. Returns `unknown` otherwise.
 */
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
