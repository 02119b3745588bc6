import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer that the proxy gives instead of the service. */
export interface OwnAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/**
 * A proxy on 127.0.0.1 that serves the service below a path prefix, as operators' proxies do. It can simulate failures.
 */
export class PrefixProxy {
  target = '';
  /** Returns the proxy's own answer, or null to forward the request. */
  instead: (path: string) => OwnAnswer | null = () => null;
  private isDown = false;
  private readonly open = new Set<ServerResponse>();

  private constructor(
    private readonly prefix: string,
    private readonly server: Server,
  ) {}

  static async start(prefix: string): Promise<PrefixProxy> {
    const server = createServer();
    const proxy = new PrefixProxy(prefix, server);
    server.on('request', (incoming: IncomingMessage, answer: ServerResponse) => proxy.serve(incoming, answer));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Breaks every connection from now on, including open ones. */
  goDown(): void {
    this.isDown = true;
    for (const answer of this.open) answer.destroy();
  }

  comeBack(): void {
    this.isDown = false;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private serve(incoming: IncomingMessage, answer: ServerResponse): void {
    if (this.isDown) return void incoming.socket.destroy();
    this.open.add(answer);
    answer.once('close', () => this.open.delete(answer));
    const path = incoming.url ?? '';
    const own = this.instead(path);
    if (own !== null) return void answer.writeHead(own.status, own.headers).end(own.body);
    if (!path.startsWith(this.prefix)) return void answer.writeHead(404).end();
    const onward = request(
      this.target + (path.slice(this.prefix.length) || '/'),
      { method: incoming.method ?? 'GET', headers: incoming.headers },
      (answered) => {
        answer.writeHead(answered.statusCode ?? 502, answered.headers);
        answered.pipe(answer);
      },
    );
    onward.on('error', () => answer.destroy());
    answer.once('close', () => onward.destroy());
    incoming.pipe(onward);
  }
}
