import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** Time after which the proxy closes a connection to a dead client, as a server's keepalive does. */
const DEAD_MS = 30_000;

/** Two connected sockets. The proxy passes data between them until `silence` is called. */
interface Pair {
  client: Socket;
  server: Socket;
  isDead: boolean;
}

/** A TCP proxy in front of a local server. It can stop forwarding without closing connections, or delay all data. */
export class Wire {
  withheldBytes = 0;
  /** Number of chunks delayed so far. */
  delayedPieces = 0;
  private delayMs = 0;
  private isSilent = false;
  private readonly pairs = new Set<Pair>();

  private constructor(
    private readonly listener: Server,
    private targetPort: number,
  ) {
    listener.on('connection', (client: Socket) => this.join(client));
  }

  static async to(targetPort: number): Promise<Wire> {
    const listener = createServer();
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new Wire(listener, targetPort);
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  /** Returns `url` with the proxy's address in place of the server's. */
  in(url: string): string {
    const through = new URL(url);
    through.hostname = '127.0.0.1';
    through.port = String(this.port);
    return through.href;
  }

  /**
   * Stops forwarding without notifying the clients. The connections to the server stay open and keep their locks, as
   * after a NAT entry has expired. With `isServerGone`, they are closed, as after a power loss of the server.
   */
  silence(isServerGone: boolean): void {
    this.isSilent = true;
    for (const pair of this.pairs) this.kill(pair, isServerGone);
  }

  /** Forwards new connections again, optionally to another port. Cut connections stay dead. */
  restore(targetPort = this.targetPort): void {
    this.targetPort = targetPort;
    this.isSilent = false;
  }

  /** Delays data in either direction by this time. 0 turns the delay off. */
  slowDown(delayMs: number): void {
    this.delayMs = delayMs;
  }

  async close(): Promise<void> {
    for (const { client, server } of this.pairs) for (const socket of [client, server]) socket.destroy();
    const closed = once(this.listener, 'close');
    this.listener.close();
    await closed;
  }

  private join(client: Socket): void {
    if (this.isSilent) {
      this.swallow(client);
      this.pairs.add({ client, server: client, isDead: true });
      return;
    }
    const server = connect(this.targetPort, '127.0.0.1');
    const pair: Pair = { client, server, isDead: false };
    this.pairs.add(pair);
    this.forward(pair, client, server);
    this.forward(pair, server, client);
  }

  private forward(pair: Pair, from: Socket, to: Socket): void {
    let freeAtMs = 0;
    from.setNoDelay(true);
    const passOn = (act: () => void): void => {
      const now = performance.now();
      // Keeps the order of the data, even if the delay is reduced while data waits.
      freeAtMs = Math.max(freeAtMs, now + this.delayMs);
      if (freeAtMs <= now) act();
      else setTimeout(act, freeAtMs - now);
    };
    from.on('data', (bytes: Buffer) => {
      if (pair.isDead) this.withheldBytes += bytes.length;
      else {
        if (this.delayMs > 0) this.delayedPieces += 1;
        passOn(() => void (pair.isDead || to.destroyed || to.write(bytes)));
      }
    });
    from.on('error', () => undefined);
    from.once('close', () => {
      if (!pair.isDead) passOn(() => to.destroy());
      if (pair.client.destroyed) this.pairs.delete(pair);
    });
  }

  private kill(pair: Pair, isServerGone: boolean): void {
    if (pair.isDead) return;
    pair.isDead = true;
    if (isServerGone) pair.server.destroy();
    else setTimeout(() => pair.server.destroy(), DEAD_MS).unref();
  }

  private swallow(client: Socket): void {
    client.on('data', (bytes: Buffer) => (this.withheldBytes += bytes.length));
    client.on('error', () => undefined);
  }
}
