import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import { Pool } from 'undici';

/** A load balancer with round robin, health checks and keep-alive connections, but without retries. */
export interface Balancer {
  readonly url: string;
  /** Requests that a node did not answer, or answered with 502 to 504. */
  readonly refused: readonly string[];
  /** Returns whether the node currently gets requests. */
  isIn(node: string): boolean;
  close(): Promise<void>;
}

interface Node {
  url: string;
  pool: Pool;
  isHealthy: boolean;
}

const CHECK_EVERY_MS = 100;
const CONNECTIONS = 8;

export async function openBalancer(urls: readonly string[]): Promise<Balancer> {
  const nodes: Node[] = urls.map((url) => ({
    url,
    pool: new Pool(url, { connections: CONNECTIONS, keepAliveTimeout: 60_000 }),
    isHealthy: true,
  }));
  const refused: string[] = [];
  let turn = 0;
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const healthy = nodes.filter(({ isHealthy }) => isHealthy);
    const node = healthy[turn++ % healthy.length];
    const what = `${request.method} ${request.url} to ${node?.url ?? 'nobody'}`;
    try {
      if (!node) throw new Error('No node is healthy.');
      const { connection: _, host: _host, ...headers } = request.headers;
      const body = Buffer.concat((await request.toArray()) as Buffer[]);
      const answer = await node.pool.request({
        method: request.method as 'POST',
        path: request.url as string,
        headers,
        body,
      });
      if ([502, 503, 504].includes(answer.statusCode)) refused.push(`${what}: ${answer.statusCode}`);
      response.writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type']) });
      response.end(Buffer.from(await answer.body.arrayBuffer()));
    } catch (error) {
      refused.push(`${what}: ${(error as { code?: string }).code} ${(error as Error).message}`);
      response.writeHead(502).end();
    }
  };
  const server = createServer((request, response) => void forward(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const closing = new AbortController();
  const check = async (node: Node): Promise<void> => {
    while (!closing.signal.aborted) {
      node.isHealthy = await fetch(`${node.url}/health/ready`, { headers: { connection: 'close' } }).then(
        ({ status }) => status === 200,
        () => false,
      );
      await rest(CHECK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const checking = nodes.map(check);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    isIn: (url) => nodes.some((node) => node.url === url && node.isHealthy),
    async close() {
      closing.abort();
      await Promise.all(checking);
      server.closeAllConnections();
      await Promise.all([...nodes.map(({ pool }) => pool.destroy()), new Promise((resolve) => server.close(resolve))]);
    },
  };
}
