/** A connection as the watch sees it. */
export interface Watched {
  /** Its address, the one that a second connection is made to. */
  readonly url: string;
  /** Behind a pooler: the server's process that serves a statement is not known by number. */
  readonly isPooled: boolean;
  /** The number of the server's process. */
  readonly backendPid: number | null;
  /** How long a statement may take that the server works on. */
  readonly deadlineMs: number;
  /** What is sent and not answered yet: the same object as long as it is the same statement. */
  statement(): object | null;
  /** Sends a statement that does nothing, unless there is a statement or a transaction already. */
  ping(): void;
  /** Breaks the connection; whoever waits for an answer hears `reason`. */
  giveUp(reason: string): void;
}

/** What a second connection says of the server's processes, by number; null when it says nothing. */
export type Verdicts = ReadonlyMap<number, 'works' | 'rests' | 'unknown'> | null;

/** Asks over a second connection: of these processes, or behind a pooler of the storage (then of process 0). */
export type Ask = (url: string, isPooled: boolean, backendPids: readonly number[]) => Promise<Verdicts>;

/** Of the statement that a connection waits for now. */
interface Seen {
  statement: object | null;
  /** Without a change: without an answer, or without a statement. */
  forMs: number;
  /** `forMs` when the server was last known to work on it. */
  workedMs: number;
  /** `forMs` when the server was found without it; null while it was not. */
  restedMs: number | null;
}

const SWEEP_MS = 250;
/** A statement without an answer for so long is asked about. */
const SILENT_MS = 1_000;
/** A statement that nobody can say anything about is given up after so long. */
const LOST_MS = 4_500;
/** An answer that was on its way when the server was asked has arrived after so long. */
const ARRIVING_MS = 500;
/**
 * A connection that rests is tried so often: one that died by itself in silence is found before somebody needs it, and no router forgets
 * it. When the way to the server dies, one that works is in doubt within seconds, and then all are tried.
 */
const PING_EVERY_MS = 60_000;

/**
 * Finds connections that died without a word (a power-off, a dropped NAT entry), for which TCP needs a quarter of an hour.
 *
 * A statement that is not answered within a second is asked about over a second connection: a server that works on it is
 * slow, and waited for until its deadline; one that knows nothing of it has answered into the void, or never heard of it,
 * and the connection is given up. Where nobody can tell, it is given up within five seconds. All connections to a server
 * are looked at once one of them is in doubt, so that a dead pool costs what a dead connection does.
 *
 * A statement costs nothing here: four times a second each connection is asked which one it waits for. Time is counted in
 * these looks, so that a process that stood still itself blames nobody.
 */
export class ConnectionWatch {
  private readonly seen = new Map<Watched, Seen>();
  private readonly asking = new Set<string>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly ask: Ask) {}

  add(connection: Watched): void {
    this.seen.set(connection, { statement: connection.statement(), forMs: 0, workedMs: 0, restedMs: null });
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
        this.seen.set(connection, { statement, forMs: 0, workedMs: 0, restedMs: null });
        continue;
      }
      seen.forMs += SWEEP_MS;
      if (statement === null) {
        this.refresh(connection, seen);
        continue;
      }
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
