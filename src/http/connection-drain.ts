/** What is needed of an answer that has not begun; `http.ServerResponse` without importing it. */
interface Answer {
  headersSent: boolean;
  shouldKeepAlive: boolean;
}

/** What is needed of a client's connection; `net.Socket` without importing it. */
interface ClientConnection {
  readonly bytesRead: number;
  /** The answer that is being made on it. */
  readonly _httpMessage?: Answer | null;
  once(event: 'close', listener: () => void): unknown;
  destroy(): void;
}

/** What is needed of the server; `http.Server` without importing it. */
export interface DrainedServer {
  on(event: 'connection', listener: (connection: ClientConnection) => void): unknown;
  prependListener(event: 'request', listener: (request: unknown, answer: Answer) => void): unknown;
  closeIdleConnections(): void;
}

const SWEEP_MS = 100;

/**
 * Lets go of the connections that clients keep open, without breaking one of them off under a request.
 *
 * Whoever sends requests is told by `Connection: close` to send the next one over another connection, so that in the end
 * those are left on which nothing is sent. Closing one of them at once would meet the requests that are on their way.
 */
export class ConnectionDrain {
  private readonly connections = new Set<ClientConnection>();
  private sweeping: NodeJS.Timeout | null = null;

  /** Before the server listens. */
  constructor(private readonly server: DrainedServer) {
    server.on('connection', (connection) => {
      this.connections.add(connection);
      connection.once('close', () => this.connections.delete(connection));
    });
  }

  /** From now on every answer, also one to a request that has arrived, ends its connection. New connections are taken. */
  announce(): void {
    this.server.prependListener('request', (_request, answer) => {
      answer.shouldKeepAlive = false;
    });
    for (const { _httpMessage: answer } of this.connections) {
      if (answer && !answer.headersSent) answer.shouldKeepAlive = false;
    }
  }

  /**
   * Closes what is idle, again and again until `stop`: an idle connection would hold up the server's close until its
   * client lets go, and one that was opened and never used for a minute.
   */
  closeIdle(): void {
    // Right after the sockets were read: what has arrived by then is a request, and its connection not idle.
    this.sweeping = setInterval(() => setImmediate(() => this.sweep()), SWEEP_MS);
  }

  stop(): void {
    if (this.sweeping) clearInterval(this.sweeping);
  }

  private sweep(): void {
    this.server.closeIdleConnections();
    for (const connection of this.connections) if (connection.bytesRead === 0) connection.destroy();
  }
}
