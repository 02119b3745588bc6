import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as forward } from 'node:http';
import { createServer, type Server } from 'node:https';
import { Agent, fetch as fetchWith } from 'undici';

const file = (name: string): string => readFileSync(new URL(`tls/localhost-${name}.pem`, import.meta.url), 'utf8');

/**
 * A TLS-terminating proxy, as operators put it in front of an installation with an https URL. It forwards requests
 * unchanged.
 */
export class TlsTerminator {
  private constructor(
    private readonly server: Server,
    private readonly agent: Agent,
    readonly url: string,
  ) {}

  /** Starts a proxy at `https://localhost:port` that forwards to `servicePort`. */
  static async start(port: number, servicePort: number): Promise<TlsTerminator> {
    const server = createServer({ key: file('key'), cert: file('cert') }, (request, response) => {
      const headers = {
        ...request.headers,
        'x-forwarded-proto': 'https',
        'x-forwarded-for': request.socket.remoteAddress,
      };
      const onward = forward(
        { host: '127.0.0.1', port: servicePort, method: request.method, path: request.url, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new TlsTerminator(server, new Agent({ connect: { ca: file('cert') } }), `https://localhost:${port}`);
  }

  /** A `fetch` that trusts the certificate. */
  readonly fetch = ((url: string | URL, init: object) =>
    fetchWith(url, { ...init, dispatcher: this.agent })) as unknown as typeof fetch;

  async stop(): Promise<void> {
    await this.agent.destroy();
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => void this.server.close(() => resolve()));
  }
}
