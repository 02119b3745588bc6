import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import { expectStatus, WITHIN_MS } from './scene.js';

/** An application endpoint as the API returned it on creation. */
export interface CreatedEndpoint {
  id: string;
  secret: string;
}

export async function applicationOf(server: PosthornServer, fields: object = { name: 'A customer' }): Promise<string> {
  return expectStatus(await server.api('POST', '/v1/app', fields), 201).json.id as string;
}

export async function endpointAt(
  server: PosthornServer,
  application: string,
  url: string,
  fields: object = {},
): Promise<CreatedEndpoint> {
  return expectStatus(await server.api('POST', `/v1/app/${application}/endpoints`, { url, ...fields }), 201).json;
}

/** Sends an event to an application and returns the response body. */
export async function emit(
  server: PosthornServer,
  application: string,
  fields: object = {},
): Promise<{ message_id: string; fanout: number }> {
  const body = { event_type: 'invoice.paid', payload: { hello: 'world' }, ...fields };
  return expectStatus(await server.api('POST', `/v1/app/${application}/event`, body), 202).json as {
    message_id: string;
    fanout: number;
  };
}

export async function eventsOf(server: PosthornServer, messageId: string, filter = ''): Promise<ApiAnswer['json'][]> {
  const found: ApiAnswer['json'][] = [];
  for (let cursor = ''; ;) {
    const { json } = expectStatus(
      await server.api('GET', `/v1/events?message_id=${messageId}&limit=100${filter}${cursor}`),
      200,
    );
    found.push(...json.data);
    if (json.next_cursor === null) return found;
    cursor = `&cursor=${json.next_cursor}`;
  }
}

export async function eventsIn(
  server: PosthornServer,
  messageId: string,
  count: number,
  status: string,
  withinMs = WITHIN_MS,
): Promise<ApiAnswer['json'][]> {
  return until(
    () => eventsOf(server, messageId),
    (events) => events.length === count && events.every((event) => event.status === status),
    withinMs,
  );
}
