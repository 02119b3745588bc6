export interface Watched {
  readonly url: string;
  /** True behind a pooler, where the process id of the server's backend is unknown. */
  readonly isPooled: boolean;
  readonly backendPid: number | null;
  /** Maximum time that the server may execute a statement. */
  readonly deadlineMs: number;
  /** Returns the pending statement. The object stays the same as long as the statement is pending. */
  statement(): object | null;
  /** Returns a number that changes while bytes of a large statement or a large response are in transit. */
  progress(): number;
  /** Sends a no-op statement, unless a statement or a transaction is in progress. */
  ping(): void;
  /** Destroys the connection. Callers that wait for a response fail with `reason`. */
  giveUp(reason: string): void;
}

/** State of each backend by process id, queried over a second connection. Null if that connection did not respond. */
export type Verdicts = ReadonlyMap<number, 'works' | 'rests' | 'unknown'> | null;

/**
 * Queries the state of backends over a second connection. Behind a pooler, tests a commit instead and reports the
 * result under id 0.
 */
export type Ask = (url: string, isPooled: boolean, backendPids: readonly number[]) => Promise<Verdicts>;

interface Seen {
  statement: object | null;
  progress: number;
  /** Time without a response to the pending statement, or idle time since the last statement. */
  forMs: number;
  /** Value of `forMs` when the server was last seen executing the statement. */
  workedMs: number;
  /** Value of `forMs` when the server was found not executing the statement. Null if that has not happened. */
  restedMs: number | null;
}

const SWEEP_MS = 250;
/** Time without a response after which the state of a statement is queried. */
const SILENT_MS = 1_000;
/** Time without a response after which a statement of unknown state is abandoned. */
const LOST_MS = 4_500;
/** Time to wait for a response that was already in flight when the server was queried. */
const ARRIVING_MS = 500;
/**
 * Interval of pings on idle connections. Pings detect a half-open connection before it is needed, and keep NAT entries
 * alive.
 */
const PING_EVERY_MS = 60_000;

/**
 * Detects half-open connections, for example after a power failure or a dropped NAT entry. TCP alone needs about a
 * quarter of an hour.
 *
 * If a statement has no response within a second, the watch queries its state over a second connection:
 *
 * - The server is executing it: the server is slow, and the statement may run until its deadline.
 * - The server is not executing it: the response or the statement was lost, and the connection is destroyed.
 * - The state is unknown: the connection is destroyed within five seconds.
 *
 * The watch then also checks all other connections to that server, so that the failure of a whole pool is detected as
 * fast.
 *
 * The watch adds no work to statements, because it only samples each connection four times a second. It measures time
 * by counting samples, so that a pause of this process does not look like a broken connection.
 */
export class ConnectionWatch {
  private readonly seen = new Map<Watched, Seen>();
  private readonly asking = new Set<string>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly ask: Ask) {}

  add(connection: Watched): void {
    this.seen.set(connection, firstSeen(connection));
    this.timer ??= setInterval(() => this.look(), SWEEP_MS).unref();
  }

  remove(connection: Watched): void {
    this.seen.delete(connection);
    if (this.seen.size > 0 || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
  }

  private look(): void {
    const doubtful = new Set<string>();
    for (const [connection, seen] of this.seen) {
      const statement = connection.statement();
      if (statement !== seen.statement) {
        this.seen.set(connection, firstSeen(connection));
        continue;
      }
      seen.forMs += SWEEP_MS;
      if (statement === null) {
        this.refresh(connection, seen);
        continue;
      }
      const progress = connection.progress();
      // A connection that transfers data is alive. The server need not be executing the statement at this moment.
      if (progress !== seen.progress) Object.assign(seen, { progress, workedMs: seen.forMs, restedMs: null });
      this.judge(connection, seen);
      if (seen.forMs - seen.workedMs >= SILENT_MS) doubtful.add(connection.url);
    }
    for (const url of doubtful) if (!this.asking.has(url)) void this.inquire(url);
  }

  private refresh(connection: Watched, seen: Seen): void {
    if (seen.forMs < PING_EVERY_MS) return;
    seen.forMs = 0;
    connection.ping();
  }

  private judge(connection: Watched, { forMs, workedMs, restedMs }: Seen): void {
    if (forMs >= connection.deadlineMs) connection.giveUp(`PostgreSQL did not end a statement within ${forMs} ms.`);
    else if (restedMs !== null && forMs - restedMs >= ARRIVING_MS)
      connection.giveUp('The connection to PostgreSQL is dead: the answer is lost.');
    else if (forMs - workedMs >= LOST_MS)
      connection.giveUp(`PostgreSQL does not answer: nothing came for ${forMs - workedMs} ms.`);
  }

  private async inquire(url: string): Promise<void> {
    const all = [...this.seen].filter(([connection]) => connection.url === url);
    const silent = all.filter(
      ([, { statement, forMs, workedMs }]) => statement !== null && forMs - workedMs >= SILENT_MS,
    );
    this.asking.add(url);
    for (const [connection] of all) connection.ping();
    try {
      const isPooled = all.some(([connection]) => connection.isPooled);
      const verdicts = await this.ask(
        url,
        isPooled,
        silent.map(([{ backendPid }]) => backendPid ?? 0),
      );
      for (const [connection, seen] of silent) {
        if (this.seen.get(connection) !== seen || connection.statement() !== seen.statement) continue;
        const verdict = verdicts?.get(isPooled ? 0 : (connection.backendPid ?? 0));
        if (verdict === 'works') [seen.workedMs, seen.restedMs] = [seen.forMs, null];
        else if (verdict === 'rests') seen.restedMs ??= seen.forMs;
      }
    } finally {
      this.asking.delete(url);
    }
  }
}

function firstSeen(connection: Watched): Seen {
  return {
    statement: connection.statement(),
    progress: connection.progress(),
    forMs: 0,
    workedMs: 0,
    restedMs: null,
  };
}
