import { randomUUID } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import type { Sql } from './scene.js';
import { expectStatus, uuidOf, WITHIN_MS } from './scene.js';

/** An inbound endpoint and its URL. */
export interface Inlet {
  id: string;
  /** URL to which a provider sends. */
  url: string;
  path: string;
}

/** Target of a route: a destination id, or a destination id with a filter. */
export type Aim = string | { destination: string; filter: object };

export async function inletTo(server: PosthornServer, aims: readonly Aim[], settings: object = {}): Promise<Inlet> {
  const routes = aims.map((aim) => (typeof aim === 'string' ? { destination: aim } : aim));
  const { id, path } = expectStatus(
    await server.api('POST', '/v1/endpoints', { slug: randomUUID(), routes, ...settings }),
    201,
  ).json;
  return { id, path, url: `${server.url}/in/${path}` };
}

export async function reroute(server: PosthornServer, { id }: Inlet, aims: readonly Aim[]): Promise<void> {
  const routes = aims.map((aim) => (typeof aim === 'string' ? { destination: aim } : aim));
  expectStatus(await server.api('PATCH', `/v1/endpoints/${id}`, { routes }), 200);
}

/** Sends a POST as a provider does. Returns the event id, or null if the response contains none. */
export async function receive(
  { url }: Pick<Inlet, 'url'>,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<string | null> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as { id?: string };
  return answer.id ?? null;
}

/** Receives events in sequence, with `n` in the body counting from 0. Returns their ids. */
export async function receiveMany(inlet: Inlet, count: number, fields: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await receive(inlet, { n, ...fields })) ?? '');
  return ids;
}

/** Waits until no delivery of the endpoint's events is pending. */
export async function settled(sql: Sql, { id }: Pick<Inlet, 'id'>): Promise<void> {
  const open = (): Promise<{ event_id: string }[]> =>
    sql.rows('select event_id from due_deliveries where endpoint_id = $1', [uuidOf(id)]);
  await until(open, (rows) => rows.length === 0, WITHIN_MS);
}

/**
 * Inserts `count` events that are older than a received event, one millisecond apart, without deliveries. Returns their
 * UUIDs, oldest first.
 */
export async function older(
  sql: Sql,
  eventId: string,
  count: number,
  disposition: string | null = null,
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `
    with copies as (
      select i, (lpad(to_hex(('x' || left(replace($1, '-', ''), 12))::bit(48)::bigint - $2::int - 1 + i), 12, '0') || substr(md5($1 || i), 1, 20))::uuid as id
      from generate_series(1, $2::int) i
    ), e as (
      insert into events (environment_id, id, expires_on, target_id, url, direction, event_type, headers, payload_bytes, payload, disposition)
      select environment_id, c.id, expires_on, target_id, url, direction, event_type, headers, payload_bytes, format('{"n":%s}', i), $3
      from events t, copies c where t.id = $1::text::uuid
    ), r as (
      insert into requests (environment_id, id, expires_on, endpoint_id, method, url, path, query, headers, size_bytes, ip, verification)
      select environment_id, c.id, expires_on, endpoint_id, method, url, path, query, headers, size_bytes, ip, verification
      from requests t, copies c where t.id = $1::text::uuid
    )
    select id from copies order by id`,
    [uuidOf(eventId), count, disposition],
  );
  return rows.map(({ id }) => id);
}

/**
 * Creates an endpoint with one received event and a backlog of older events. The routes are set afterwards, so nothing
 * is delivered.
 */
export async function backlog(
  server: PosthornServer,
  sql: Sql,
  aims: readonly Aim[],
  count: number,
): Promise<{ inlet: Inlet; uuids: string[] }> {
  const inlet = await inletTo(server, []);
  const last = (await receive(inlet, { n: count })) ?? '';
  const uuids = [...(await older(sql, last, count - 1)), uuidOf(last)];
  await sql.rows('update events set disposition = null where id = $1', [uuidOf(last)]);
  await reroute(server, inlet, aims);
  return { inlet, uuids };
}

export const askReplay = (
  server: PosthornServer,
  { id }: Pick<Inlet, 'id'>,
  body?: object,
  headers = {},
): Promise<ApiAnswer> => server.api('POST', `/v1/endpoints/${id}/replay`, body, headers);

export async function startReplay(
  server: PosthornServer,
  inlet: Pick<Inlet, 'id'>,
  body: object = {},
): Promise<ApiAnswer['json']> {
  return expectStatus(await askReplay(server, inlet, body), 202).json;
}

export async function dryRun(
  server: PosthornServer,
  inlet: Pick<Inlet, 'id'>,
  body: object = {},
): Promise<ApiAnswer['json']> {
  return expectStatus(await askReplay(server, inlet, { ...body, dry_run: true }), 200).json;
}

export async function jobOf(server: PosthornServer, id: string): Promise<ApiAnswer['json']> {
  return expectStatus(await server.api('GET', `/v1/replays/${id}`), 200).json;
}

export function jobIn(
  server: PosthornServer,
  id: string,
  state: string,
  withinMs = WITHIN_MS,
): Promise<ApiAnswer['json']> {
  return until(
    () => jobOf(server, id),
    (job) => job.state === state,
    withinMs,
  );
}

/** Starts a replay, waits until it ends, and returns the job. */
export async function replayed(
  server: PosthornServer,
  inlet: Pick<Inlet, 'id'>,
  body: object = {},
): Promise<ApiAnswer['json']> {
  const { id } = await startReplay(server, inlet, body);
  return jobIn(server, id, 'completed');
}

/** From now on, records each delivery that a replay enqueues, with its transaction id and its position in the order. */
export async function watchReplays(sql: Sql): Promise<void> {
  await sql.rows(
    'create table enqueued (n serial, event_id uuid, target_id uuid, endpoint_id uuid, due_at timestamptz, xid xid8)',
  );
  await sql.rows(`
    create function note_enqueued() returns trigger language plpgsql as $$ begin
      insert into enqueued (event_id, target_id, endpoint_id, due_at, xid)
      values (new.event_id, new.target_id, new.endpoint_id, new.due_at, pg_current_xact_id());
      return null;
    end $$`);
  await sql.rows(
    'create trigger note_enqueued after insert on due_deliveries for each row when (new.replayed) execute function note_enqueued()',
  );
}

/** Returns the deliveries that replays have enqueued for the endpoint's events, ordered by due time. */
export function enqueued(
  sql: Sql,
  { id }: Pick<Inlet, 'id'>,
): Promise<{ event: string; target: string; due: string; xid: string }[]> {
  return sql.rows(
    `select event_id as event, target_id as target, due_at::text as due, xid::text from enqueued where endpoint_id = $1 order by due_at, n`,
    [uuidOf(id)],
  );
}
