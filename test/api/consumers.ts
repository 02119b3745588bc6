import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './polling.js';
import { WITHIN_MS } from './scene.js';

/** A delivery with its method and URL. */
export interface Seen {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** HTTP receivers of deliveries. Each has its own path and accepts any method. */
export interface Consumers {
  origin: string;
  /** Creates a receiver and returns its path, with slashes at both ends. */
  place(): string;
  /** Resolves with the deliveries to a receiver's path once `count` have arrived. */
  seen(place: string, count?: number): Promise<Seen[]>;
  /** Returns the deliveries to a receiver's path so far. */
  soFar(place: string): Seen[];
  close(): Promise<void>;
}

/** Starts an HTTP server that answers 200, or 500 to requests with the header `x-answer: 500`. */
export async function startConsumers(): Promise<Consumers> {
  const seenAt = new Map<string, Seen[]>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const { method = '', url = '', headers } = request;
        // A HEAD request is the probe at the creation of a destination, not a delivery.
        if (method !== 'HEAD')
          seenAt.get(url.split('/')[1] ?? '')?.push({ method, url, headers, body: Buffer.concat(chunks) });
        response.writeHead(headers['x-answer'] === '500' ? 500 : 200).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const soFar = (place: string): Seen[] => seenAt.get(place.split('/')[1] ?? '') ?? [];
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    place() {
      const name = randomUUID();
      seenAt.set(name, []);
      return `/${name}/`;
    },
    seen: (place, count = 1) =>
      until(
        async () => soFar(place),
        ({ length }) => length >= count,
        WITHIN_MS,
      ),
    soFar,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
