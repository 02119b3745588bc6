import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A server's keepalive finds out about a dead client in time; here it is half a minute. */
const DEAD_MS = 30_000;

/** Two ends that are joined, unless the wire between them went dead. */
interface Pair {
  client: Socket;
  server: Socket;
  isDead: boolean;
}

/** A TCP proxy in front of a server on this machine: it may fall silent without closing anything, or be slow. */
export class Wire {
  /** Bytes that were swallowed so far. */
  withheldBytes = 0;
  /** Pieces that came late so far. */
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

  /** `url` with the wire in place of its server. */
  in(url: string): string {
    const through = new URL(url);
    through.hostname = '127.0.0.1';
    through.port = String(this.port);
    return through.href;
  }

  /**
   * Cut without a word: what is connected now never hears of its other end again, and what connects meanwhile hears
   * nothing either. The server's ends close when it lost its power; behind a forgotten translation they stay, with what
   * they have locked.
   */
  silence(isServerGone: boolean): void {
    this.isSilent = true;
    for (const pair of this.pairs) this.kill(pair, isServerGone);
  }

  /** New connections get through again, to another port if one is given. What was cut stays dead. */
  restore(targetPort = this.targetPort): void {
    this.targetPort = targetPort;
    this.isSilent = false;
  }

  /** Everything takes so much longer in either direction; 0 is as usual. */
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
      // Never before what came before it, also when the wire gets faster meanwhile.
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
