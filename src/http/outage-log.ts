/** What node-postgres, its pools, TypeORM and the server itself say of a PostgreSQL that is away. */
const AWAY = [
  /terminating connection due to/,
  /the database system is (starting up|shutting down|not yet accepting connections|in recovery mode)/,
  /Connection terminated/,
  /Client has encountered a connection error|Client was closed/,
  /timeout exceeded when trying to connect|timeout expired|Query read timeout/,
  /(connect|read|write) E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH)/,
  /getaddrinfo E(NOTFOUND|AI_AGAIN)/,
  /cannot reach its database/,
  /PostgreSQL did not end a statement|The connection to PostgreSQL is dead|PostgreSQL does not answer|Changes are not heard over/,
  // Of a host with several addresses Node.js reports all failures in one error, whose message is empty.
  /: $/,
];

/** Whoever says nothing for so long has found PostgreSQL again. */
const QUIET_MS = 30_000;

/**
 * Tells the many complaints about one outage of PostgreSQL from everything else that is logged: each loop, queue and
 * request makes its own, again and again, and one line says as much.
 */
export class OutageLog {
  private lastMs = -Infinity;

  /** `databasePort` tells PostgreSQL from other servers that refuse connections, such as Redis. */
  constructor(
    private readonly databasePort: number,
    private readonly nowMs: () => number,
  ) {}

  /** The line to log in place of this one, null when it has been said before, and the line itself when it is about something else. */
  reworded(line: string): string | null {
    const cause = AWAY.map((pattern) => pattern.exec(line)?.[0]).find((found) => found !== undefined);
    if (cause === undefined || this.isElsewhere(line)) return line;
    const nowMs = this.nowMs();
    const isNew = nowMs - this.lastMs > QUIET_MS;
    this.lastMs = nowMs;
    if (!isNew) return null;
    const why = cause.replace(/^: $/, 'no address answers');
    return `PostgreSQL is away (${why}): nothing is accepted or delivered until it is back, and it is asked again all the time.`;
  }

  private isElsewhere(line: string): boolean {
    const port = /connect E[A-Z]+ \S+:(\d+)/.exec(line)?.[1];
    return port !== undefined && Number(port) !== this.databasePort;
  }
}
