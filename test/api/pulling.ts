import { randomUUID } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import type { Sql } from './scene.js';
import { expectStatus, send, uuidOf, WITHIN_MS } from './scene.js';

/** Parameters of a request that reads from a pull destination. */
export interface ReadOn {
  cursor?: string | null;
  limit?: number;
  wait?: number;
}

export interface Page {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
  data: any[];
  next_cursor: string | null;
}

export async function pullDestination(server: PosthornServer): Promise<string> {
  return expectStatus(await server.api('POST', '/v1/destinations', { name: 'Warehouse', type: 'pull' }), 201).json
    .id as string;
}

export function pull(server: PosthornServer, feed: string, query: ReadOn = {}, headers = {}): Promise<ApiAnswer> {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  return server.api(
    'GET',
    `/v1/pull/${feed}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`,
    undefined,
    headers,
  );
}

export async function page(server: PosthornServer, feed: string, query: ReadOn = {}): Promise<Page> {
  return expectStatus(await pull(server, feed, query), 200).json as Page;
}

export const ack = (server: PosthornServer, feed: string, cursor: unknown): Promise<ApiAnswer> =>
  server.api('POST', `/v1/pull/${feed}/ack`, { cursor });

export const messagesOf = ({ data }: Page): string[] => data.map(({ webhook_id: id }: { webhook_id: string }) => id);

/**
 * Waits until the batch at the committed position has `count` items. An open transaction in the database delays new
 * items.
 */
export function arrived(server: PosthornServer, feed: string, count: number): Promise<Page> {
  return until(
    () => page(server, feed, { limit: 100 }),
    ({ data }) => data.length >= count,
    WITHIN_MS,
  );
}

/** Sends messages in sequence and waits until all can be pulled. Returns their ids in order. */
export async function offer(server: PosthornServer, destination: string, count: number): Promise<string[]> {
  const before = (await page(server, destination, { limit: 100 })).data.length;
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await send(server, destination, { payload: { i } }));
  await arrived(server, destination, before + count);
  return ids;
}

/** Creates an inbound endpoint with routes to these destinations, and returns its id. */
export async function endpointTo(server: PosthornServer, ...destinations: string[]): Promise<string> {
  return expectStatus(await server.api('POST', '/v1/endpoints', { slug: randomUUID(), destinations }), 201).json
    .id as string;
}

/** Marks messages sent to a pull destination as received by an inbound endpoint. */
export async function receivedBy(sql: Sql, endpoint: string, messageIds: readonly string[]): Promise<void> {
  await sql.rows('update pull_items set endpoint_id = $1 where event_id = any ($2)', [
    uuidOf(endpoint),
    messageIds.map(uuidOf),
  ]);
}

/** Returns the number of pull requests that wait in the process. */
export async function waiters(server: PosthornServer): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^posthorn_pull_waiters (\d+)$/m.exec(text)?.[1]);
}

export const untilWaiting = (server: PosthornServer, count: number): Promise<number> =>
  until(
    () => waiters(server),
    (waiting) => waiting === count,
    WITHIN_MS,
  );
