/** The part of an unstarted `http.ServerResponse` that this file uses, declared without importing it. */
interface Answer {
  headersSent: boolean;
  shouldKeepAlive: boolean;
}

/** The part of `net.Socket` that this file uses, declared without importing it. */
interface ClientConnection {
  readonly bytesRead: number;
  readonly _httpMessage?: Answer | null;
  once(event: 'close', listener: () => void): unknown;
  destroy(): void;
}

/** The part of `http.Server` that this file uses, declared without importing it. */
export interface DrainedServer {
  on(event: 'connection', listener: (connection: ClientConnection) => void): unknown;
  prependListener(event: 'request', listener: (request: unknown, answer: Answer) => void): unknown;
  closeIdleConnections(): void;
}

const SWEEP_MS = 100;

/**
 * Closes keep-alive connections at shutdown without interrupting a request. Responses get `Connection: close`, so that
 * clients use another connection for the next request and open connections become idle. Closing connections immediately
 * would break requests in flight.
 */
export class ConnectionDrain {
  private readonly connections = new Set<ClientConnection>();
  private sweeping: NodeJS.Timeout | null = null;

  /** Call this before the server listens. */
  constructor(private readonly server: DrainedServer) {
    server.on('connection', (connection) => {
      this.connections.add(connection);
      connection.once('close', () => this.connections.delete(connection));
    });
  }

  /**
   * Makes every response close its connection, including those of requests in progress. Still accepts new connections.
   */
  announce(): void {
    this.server.prependListener('request', (_request, answer) => {
      answer.shouldKeepAlive = false;
    });
    for (const { _httpMessage: answer } of this.connections) {
      if (answer && !answer.headersSent) answer.shouldKeepAlive = false;
    }
  }

  /** Closes idle connections until `stop`. Otherwise, an unused connection could delay the exit by a minute. */
  closeIdle(): void {
    // `setImmediate` runs right after sockets are read, so a connection with a new request is already marked as busy.
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
