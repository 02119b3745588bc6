/** Patterns of errors during a PostgreSQL outage, from node-postgres, its pools, TypeORM and PostgreSQL itself. */
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
  // Matches a line without a message after the colon: if all addresses of a host fail, the error of Node.js has no
  // message.
  /: $/,
];

/** Minimum time without a connection error between two outages. */
const QUIET_MS = 30_000;

/** Recognizes the repeated errors of a PostgreSQL outage, to replace them by one log line. */
export class OutageLog {
  private lastMs = -Infinity;

  /** `databasePort` distinguishes PostgreSQL from other servers that refuse connections, such as Redis. */
  constructor(
    private readonly databasePort: number,
    private readonly nowMs: () => number,
  ) {}

  /**
   * Returns `line` unchanged if it does not belong to an outage. For the first line of an outage, returns a sentence
   * about the outage. Returns null for its other lines.
   */
  reworded(line: string): string | null {
    const cause = AWAY.map((pattern) => pattern.exec(line)?.[0]).find((found) => found !== undefined);
    if (cause === undefined || this.isElsewhere(line)) return line;
    const nowMs = this.nowMs();
    const isNew = nowMs - this.lastMs > QUIET_MS;
    this.lastMs = nowMs;
    if (!isNew) return null;
    const why = cause.replace(/^: $/, 'no address answers');
    return `PostgreSQL is away (${why}): nothing is accepted or delivered until it is back. Posthorn keeps trying to connect.`;
  }

  private isElsewhere(line: string): boolean {
    const port = /connect E[A-Z]+ \S+:(\d+)/.exec(line)?.[1];
    return port !== undefined && Number(port) !== this.databasePort;
  }
}
