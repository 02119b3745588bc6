import type { ApiAnswer, PosthornServer } from '../support/server.js';
import type { Sql } from './scene.js';
import { expectStatus, uuidOf } from './scene.js';

/** Final status that each copy of an event gets. */
export interface Ended {
  status: 'failed' | 'dlq' | 'delivered';
  reason?: string;
}

/**
 * Inserts `count` older copies of a sent event, one millisecond apart, each with a delivery in the given final status.
 * Returns their UUIDs, oldest first.
 */
export async function failedCopies(
  sql: Sql,
  messageId: string,
  count: number,
  { status, reason }: Ended,
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `
    with copies as (
      select i, (lpad(to_hex(('x' || left(replace($1, '-', ''), 12))::bit(48)::bigint - $2::int - 1 + i), 12, '0')
        || substr(md5($1 || i || $3 || coalesce($4, '')), 1, 20))::uuid as id
      from generate_series(1, $2::int) i
    ), e as (
      insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
      select environment_id, c.id, expires_on, target_id, direction, event_type, payload_bytes, payload
      from events t, copies c where t.id = $1::text::uuid
    ), d as (
      insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, reason, attempts, replayed, superseded, settled_at)
      select environment_id, c.id, 0, expires_on, target_id, $3, $4, 1, false, false, now()
      from events t, copies c where t.id = $1::text::uuid
    )
    select id from copies order by id`,
    [uuidOf(messageId), count, status, reason ?? null],
  );
  return rows.map(({ id }) => id);
}

export const LONG_AGO = '2026-01-01T00:00:00Z';

export function askRecover(
  server: PosthornServer,
  destination: string,
  body: object = { since: LONG_AGO },
  headers = {},
): Promise<ApiAnswer> {
  return server.api('POST', `/v1/destinations/${destination}/recover`, body, headers);
}

/** Creates an endpoint of an application, and the application if it does not exist. Returns the endpoint's id. */
export async function endpointOf(server: PosthornServer, app: string, settings: object): Promise<string> {
  await server.api('POST', '/v1/app', { uid: app, name: 'A customer' });
  return expectStatus(await server.api('POST', `/v1/app/${app}/endpoints`, settings), 201).json.id as string;
}

/** Sends an event to every endpoint of an application. Returns the message id. */
export async function emit(server: PosthornServer, app: string, fields: object = {}): Promise<string> {
  const answer = await server.api('POST', `/v1/app/${app}/event`, {
    event_type: 'test.sent',
    payload: { hello: 'world' },
    ...fields,
  });
  return expectStatus(answer, 202).json.message_id as string;
}

export async function eventsOf(server: PosthornServer, messageId: string): Promise<ApiAnswer['json'][]> {
  return expectStatus(await server.api('GET', `/v1/events?message_id=${messageId}&limit=100`), 200).json.data;
}
