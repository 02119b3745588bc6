import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Pace } from '../support/pace.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectRefusal } from './answers.js';
import { listen, type StreamItem } from './listening.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import {
  beginElsewhere,
  beginWriting,
  destinationAt,
  eventIn,
  expectStatus,
  makeDue,
  openSql,
  RARE_RETRIES,
  send,
  sendMany,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

const evt = (messageId: string): string => messageId.replace('msg_', 'evt_');
const kinds = (items: readonly StreamItem[]): string[] => items.map(({ event }) => event);

/** Returns a stream id without the time at which the service read the event. */
const placed = (id: string): string => id.replace(/^(\d+\.\d+)\.\d+/, '$1');

describe('GET /v1/events/stream', () => {
  let server: PosthornServer;
  let other: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' });
    // A second process on the same database, which streams the events that the first one accepts.
    other = await startServer({ ...server.env });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await other?.stop();
    await server?.stop();
    await targets?.close();
  });

  const received = async (slug: string, body = '{"type":"invoice.paid"}'): Promise<string> => {
    const { slug: organization } = (await server.api('GET', '/v1/org')).json;
    const answer = await fetch(`${server.url}/in/${organization}/${slug}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return ((await answer.json()) as { id: string }).id;
  };

  /** Returns the resident memory of the service and the number of its database connections. */
  async function figures(): Promise<{ bytes: number; connections: number }> {
    const bytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1024;
    const [row] = await sql.rows<{ count: number }>(
      `select count(*)::int from pg_stat_activity where datname = current_database() and application_name like 'posthorn%'`,
    );
    return { bytes, connections: row?.count ?? 0 };
  }

  it('200: streams acceptance, every attempt and the end of an event, in this order and with increasing ids, from any process', async () => {
    const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
    const destination = await destinationAt(server, target.url, { retry: { schedule: [0, 3600, 3600] } });
    const here = await listen(server);
    const there = await listen(other);
    const message = await send(server, destination, { event_type: 'invoice.paid' });
    await target.arrived(1);
    await here.waitFor('attempt', ({ data }) => data.id === evt(message));
    await makeDue(sql, message);
    await target.arrived(2);
    await here.waitFor('status', ({ data }) => data.id === evt(message));
    await there.waitFor('status', ({ data }) => data.id === evt(message));

    for (const listener of [here, there]) {
      const own = listener.changes().filter(({ data }) => data.id === evt(message));
      expect(kinds(own)).toEqual(['accepted', 'attempt', 'attempt', 'status']);
      expect(own[0]?.data).toMatchObject({
        event_type: 'invoice.paid',
        direction: 'outbound',
        destination,
        message_id: message,
      });
      expect(own[1]?.data.attempt).toMatchObject({ number: 1, status: 500, destination, error: null });
      expect(own[3]?.data).toMatchObject({
        status: 'delivered',
        delivery: { destination, status: 'delivered', reason: null },
      });
      expect(new Set(listener.items.map(({ id }) => id)).size).toBeGreaterThanOrEqual(own.length);
      listener.close();
    }
    expect(here.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(here.headers.get('cache-control')).toContain('no-store');
  });

  it('200: filters by type, destination, endpoint, direction, application and status', async () => {
    const target = targets.open();
    const [mine, theirs] = [await destinationAt(server, target.url), await destinationAt(server, target.url)];
    const endpoint = expectStatus(
      await server.api('POST', '/v1/endpoints', { slug: 'filtered', destinations: [mine] }),
      201,
    ).json.id as string;
    expectStatus(await server.api('POST', '/v1/app/streamed/endpoints', { url: target.url }), 404);
    expectStatus(await server.api('POST', '/v1/app', { uid: 'streamed' }), 201);
    expectStatus(await server.api('POST', '/v1/app/streamed/endpoints', { url: target.url }), 201);
    const queries = [
      '?event_type=a.b',
      `?destination=${mine}`,
      `?endpoint=${endpoint}`,
      '?direction=inbound',
      '?application=streamed',
      '?status=delivered',
      '?destination=dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
    ];
    const listeners = await Promise.all(queries.map((query) => listen(server, query)));
    const everything = await listen(server);

    const toMine = evt(await send(server, mine, { event_type: 'a.b' }));
    const toTheirs = evt(await send(server, theirs, { event_type: 'c.d' }));
    const inbound = await received('filtered');
    const message = expectStatus(
      await server.api('POST', '/v1/app/streamed/event', { event_type: 'c.d', payload: {} }),
      202,
    ).json.message_id as string;
    for (const id of [toMine, toTheirs, inbound]) await everything.waitFor('status', ({ data }) => data.id === id);
    const fanned = (await everything.waitFor('status', ({ data }) => data.message_id === message)).data.id as string;
    // Events are streamed in order. A listener that has the last event has also received all earlier events.
    await Promise.all([
      listeners[3]?.waitFor('status', ({ data }) => data.id === inbound),
      listeners[4]?.waitFor('status', ({ data }) => data.id === fanned),
    ]);

    const seen = listeners.map((listener) =>
      [...new Set(listener.changes().map(({ data }) => data.id as string))].sort(),
    );
    expect(seen).toEqual([
      [toMine],
      [toMine, inbound].sort(),
      [inbound],
      [inbound],
      [fanned],
      [toMine, toTheirs, inbound, fanned].sort(),
      [],
    ]);
    for (const listener of [...listeners, everything]) listener.close();
  });

  it('200: a stream contains nothing of another environment', async () => {
    const test = await createKey(server, { scope: 'read', environment: 'test' });
    const stranger = await listen(server, '', as(test.key));
    const own = await listen(server);
    const message = await send(server, await destinationAt(server, targets.open().url));
    await own.waitFor('status', ({ data }) => data.id === evt(message));

    expect(stranger.changes()).toEqual([]);
    stranger.close();
    own.close();
  });

  it('200: resumes after Last-Event-ID, also within a transaction, with nothing twice and nothing left out', async () => {
    const target = targets.open();
    const destination = await destinationAt(server, target.url);
    const first = await listen(server, `?destination=${destination}`);
    const messages = await sendMany(server, destination, 40);
    await until(
      async () => first.changes().filter(({ event }) => event === 'status').length,
      (count) => count === 40,
      WITHIN_MS,
    );
    first.close();
    const all = first.changes();
    const more = await sendMany(server, destination, 10);
    for (const message of more) await eventIn(server, message, 'delivered');

    for (const at of [0, 7, 40, all.length - 1]) {
      const resumed = await listen(other, `?destination=${destination}`, { 'last-event-id': all[at]?.id ?? '' });
      await until(
        async () =>
          resumed.changes().filter(({ event, data }) => event === 'status' && more.map(evt).includes(data.id)).length,
        (count) => count === 10,
        WITHIN_MS,
      );
      expect(
        resumed
          .changes()
          .slice(0, all.length - at - 1)
          .map(({ id }) => placed(id)),
      ).toEqual(all.slice(at + 1).map(({ id }) => placed(id)));
      expect(resumed.changes().length).toBe(all.length - at - 1 + 30);
      resumed.close();
    }
    expect(new Set(all.filter(({ event }) => event === 'accepted').map(({ data }) => data.id))).toEqual(
      new Set(messages.map(evt)),
    );
  });

  it('200: follow=false ends once the stream has caught up', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const before = await listen(server, '?follow=false');
    await before.ended;
    const message = await send(server, destination);
    await eventIn(server, message, 'delivered');

    const after = await listen(server, '?follow=false', { 'last-event-id': before.items.at(0)?.id ?? '' });
    await after.ended;

    expect(kinds(before.items)).toEqual(['ready', 'end']);
    expect(kinds(after.items.filter(({ data }) => data.id === evt(message)))).toEqual([
      'accepted',
      'attempt',
      'status',
    ]);
    expect(after.items.at(-1)).toMatchObject({ event: 'end', data: { reason: 'caught_up' } });
  });

  it('200: an open transaction in another database of the PostgreSQL server delays nothing', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const neighbour = await beginElsewhere();
    try {
      const listener = await listen(server, `?destination=${destination}`);
      const message = await send(server, destination);
      await listener.waitFor('status', ({ data }) => data.id === evt(message));
      const again = await listen(other, `?destination=${destination}&follow=false`, {
        'last-event-id': listener.items[0]?.id ?? '',
      });
      await again.ended;

      expect(kinds(listener.changes())).toEqual(['accepted', 'attempt', 'status']);
      expect(kinds(again.changes())).toEqual(['accepted', 'attempt', 'status']);
      listener.close();
    } finally {
      await neighbour.end();
    }
  });

  it('200: an open transaction delays all later events, which are streamed once it ends', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const listener = await listen(server, `?destination=${destination}`);
    // Opens a transaction. The stream must wait for its end, because the rows of later transactions come after its
    // rows.
    const holder = await beginWriting(server.databaseUrl);
    const message = await send(server, destination);
    await eventIn(server, message, 'delivered');
    expect(listener.changes()).toEqual([]);
    // The open transaction must also delay the end of a stream with follow=false.
    const leaving = listen(other, `?destination=${destination}&follow=false`, {
      'last-event-id': listener.items[0]?.id ?? '',
    });
    await until(
      async () => (await fetch(`${other.url}/metrics`)).text(),
      (text) => /^posthorn_event_stream_listeners [1-9]/m.test(text),
      WITHIN_MS,
    );
    await holder.end();
    const caughtUp = await leaving;
    await caughtUp.ended;

    expect(kinds(caughtUp.items)).toEqual(['accepted', 'attempt', 'status', 'ready', 'end']);
    await listener.waitFor('status', ({ data }) => data.id === evt(message));
    expect(kinds(listener.changes())).toEqual(['accepted', 'attempt', 'status']);
    listener.close();
  });

  it('200: an attempt that began 80 s before its commit is streamed exactly once', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const listener = await listen(server, `?destination=${destination}`);
    const message = await send(server, destination);
    await listener.waitFor('status', ({ data }) => data.id === evt(message));
    // Simulates a process that paused between the receiver's response and the commit of the attempt.
    await sql.rows(
      `do $$ begin
         insert into attempts (environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, status)
         select environment_id, event_id, ordinal, 2, expires_on, now() - interval '80 seconds', 5, 503 from attempts where event_id = '${uuidOf(evt(message))}';
         perform pg_sleep(1);
       end $$`,
    );
    const late = await listener.waitFor('attempt', ({ data }) => data.id === evt(message) && data.attempt.number === 2);
    const next = await send(server, destination);
    await listener.waitFor('status', ({ data }) => data.id === evt(next));

    expect(late.data.attempt).toMatchObject({ number: 2, status: 503 });
    expect(listener.changes().filter(({ data }) => data.attempt?.number === 2)).toHaveLength(1);
    listener.close();
  });

  it('a gap is reported for an id that is too old, one that the database cannot have issued, and one of another epoch', async () => {
    const listener = await listen(server);
    const [epoch, xid, atMs] = (listener.items[0]?.id ?? '').split('.');
    listener.close();
    const ids = {
      old: `${epoch}.${BigInt(xid ?? 0) - 1n}.${Number(atMs) - 3_700_000}`,
      ahead: `${epoch}.${BigInt(xid ?? 0) + 1_000_000n}.${atMs}`,
      other: `${Number(epoch) + 1}.${xid}.${atMs}`,
    };

    const gaps = await Promise.all(
      Object.values(ids).map(async (id) => {
        const resumed = await listen(server, '?follow=false', { 'last-event-id': id });
        return resumed.items.find(({ event }) => event === 'gap')?.data;
      }),
    );

    expect(gaps).toEqual([
      { reason: 'too_old', since: new Date(Number(atMs) - 3_700_000).toISOString(), until: expect.any(String) },
      { reason: 'storage', since: new Date(Number(atMs)).toISOString(), until: expect.any(String) },
      { reason: 'storage', since: new Date(Number(atMs)).toISOString(), until: expect.any(String) },
    ]);
  });

  it('a client that stops reading gets every event when it reads again, and its buffer is bounded', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const { port, hostname } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET /v1/events/stream?destination=${destination} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.apiKey}\r\n\r\n`,
    );
    await once(socket, 'data');
    socket.pause();
    const messages = await sendMany(server, destination, 1_000);
    await until(
      () => server.api('GET', `/v1/events?destination=${destination}&status=retrying`),
      ({ json }) => json.data.length === 0,
      WITHIN_MS,
    );

    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.resume();
    await until(
      async () => text.split('event: status\n').length - 1,
      (count) => count >= 1_000,
      40_000,
    );

    const items = [
      ...text.matchAll(/event: (accepted|attempt|status)\n(?:\r\n\w+\r\n)?id: [^\n]*\ndata: \{"id":"(evt_\w+)"/g),
    ].map(([, kind, id]) => `${kind} ${id}`);
    expect(new Set(items).size).toBe(items.length);
    expect(text).not.toContain('event: gap');
    expect(text.split('event: accepted\n').length - 1).toBe(messages.length);
    socket.destroy();
  });

  it('1,000 listeners use less than 50 MB and no connection to PostgreSQL', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const keys = await Promise.all(Array.from({ length: 10 }, () => createKey(server, { scope: 'read' })));
    const warm = await Promise.all(Array.from({ length: 100 }, () => listen(server, '', as(keys[0]?.key ?? ''))));
    for (const listener of warm) listener.close();
    const before = await figures();
    const listeners = [];
    for (const { key } of keys)
      listeners.push(
        ...(await Promise.all(
          Array.from({ length: 100 }, () => listen(server, `?destination=${destination}`, as(key))),
        )),
      );
    const message = await send(server, destination);
    await Promise.all(listeners.map((listener) => listener.waitFor('status', ({ data }) => data.id === evt(message))));

    const after = await figures();
    for (const listener of listeners) listener.close();

    process.stderr.write(`1,000 listeners: ${JSON.stringify({ before, after })}\n`);
    expect(after.bytes - before.bytes).toBeLessThan(50 * 1024 * 1024);
    // The thousand listeners share a few connections. One connection each would add a thousand.
    expect(after.connections - before.connections).toBeLessThan(10);
  });

  it('400: an invalid id', async () => {
    expectRefusal(await server.api('GET', '/v1/events/stream', undefined, { 'last-event-id': 'evt_1' }), 400);
    expectRefusal(await server.api('GET', '/v1/events/stream?nothing=1'), 400);
  });

  it('ends within 5 s of the revocation of its key, and other streams continue', async () => {
    const key = await createKey(server, { scope: 'read' });
    const revoked = await listen(other, '', as(key.key));
    const own = await listen(other);
    const pace = await Pace.start();
    const [atMs, at] = [performance.now(), Date.now()];
    expectStatus(await server.api('DELETE', `/v1/keys/${key.id}`), 204);
    await revoked.ended;
    const endedAfterMs = performance.now() - atMs;
    pace.stop();

    expect(endedAfterMs).toBeLessThan(5_000 * pace.since(at));
    expect(revoked.items.at(-1)).toMatchObject({ event: 'end', data: { reason: 'key_revoked' } });
    expect(own.items.some(({ event }) => event === 'end')).toBe(false);
    own.close();
  });

  it('429: a key can have 100 streams per process; Retry-After gives the time to wait', async () => {
    const key = await createKey(server, { scope: 'read' });
    const listeners = await Promise.all(Array.from({ length: 100 }, () => listen(server, '', as(key.key))));

    const refused = await server.api('GET', '/v1/events/stream', undefined, as(key.key));

    expectRefusal(refused, 429);
    expect(refused.json.error).toMatchObject({
      type: 'rate_limited',
      message: expect.stringContaining('This key has 100 streams open here already'),
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const listener of listeners) listener.close();
    const again = await until(
      () => listen(server, '', as(key.key)).catch(() => null),
      (listener) => listener !== null,
      WITHIN_MS,
    );
    again?.close();
  });

  it('a destination with long retry delays causes no gap: failed attempts are streamed before the retry', async () => {
    const destination = await destinationAt(server, targets.open(() => ({ status: 500 })).url, RARE_RETRIES);
    const listener = await listen(server, `?destination=${destination}&status=retrying`);
    const message = await send(server, destination);
    const attempt = await listener.waitFor('attempt', ({ data }) => data.id === evt(message));

    expect(attempt.data).toMatchObject({ status: 'retrying', attempt: { number: 1, status: 500 } });
    expect(Date.parse(attempt.data.attempt.next_attempt_at)).toBeGreaterThan(Date.now());
    listener.close();
  });
});
