import { randomUUID } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import { until } from './polling.js';
import { askRecover, emit, endpointOf, eventsOf, LONG_AGO } from './recovering.js';
import { dryRun, inletTo, jobIn, receive, replayed, settled } from './replaying.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  eventOf,
  expectStatus,
  openSql,
  RARE_RETRIES,
  send,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

/** `DELETE /v1/events/{id}/payload` erases the payload permanently and keeps the record of its deliveries. */
describe('erase', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer();
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const erase = (id: string): Promise<ApiAnswer> => server.api('DELETE', `/v1/events/${id}/payload`);
  const word = (): string => `secret${randomUUID().replaceAll('-', '')}`;

  /** Searches all tables of the database. Returns the columns that contain the text. */
  async function placesOf(secret: string): Promise<string[]> {
    const columns = await sql.rows<{ table: string; column: string }>(`
      select c.table_name as table, c.column_name as column from information_schema.columns c
      join pg_class t on t.relname = c.table_name and t.relkind = 'r' join pg_namespace n on n.oid = t.relnamespace and n.nspname = c.table_schema
      where c.table_schema = 'public' and c.data_type in ('text', 'bytea', 'jsonb', 'ARRAY', 'character varying', 'json')`);
    const places: string[] = [];
    for (const { table, column } of columns) {
      const text = `replace(replace("${column}"::text, '\\x', ''), ' ', '')`;
      const found = await sql.rows(
        `select 1 from "${table}" where ${text} like '%' || $1 || '%' or ${text} like '%' || $2 || '%' limit 1`,
        [secret, Buffer.from(secret).toString('hex')],
      );
      if (found.length > 0) places.push(`${table.replace(/_p\d{8}$/, '')}.${column}`);
    }
    return places.sort();
  }

  it('204, also for a second call: the database no longer has the payload and header values; deliveries, attempts and excerpts stay', async () => {
    const secret = word();
    const target = targets.open(() => ({ body: 'thank you' }));
    const destination = await destinationAt(server, target.url);
    const message = await send(server, destination, { payload: { secret }, headers: { 'x-tenant': secret } });
    const before = await eventIn(server, message, 'delivered');
    expect(await placesOf(secret)).toEqual(['events.headers', 'events.payload']);

    const answers = [await erase(before.id), await erase(message)];

    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [204, ''],
      [204, ''],
    ]);
    expect(await placesOf(secret)).toEqual([]);
    const { payload: _gone, payload_encoding: _json, ...rest } = before;
    const after = await eventOf(server, message);
    expect(after).toEqual({ ...rest, headers: { 'x-tenant': '' }, payload_erased_at: expect.any(String) });
    expect(after.attempts[0].response_excerpt).toBe('thank you');
    expect(after.payload_truncated).toBeUndefined();
    const replay = await server.api('POST', `/v1/events/${message}/replay`);
    expectRefusal(replay, 409);
    expect(replay.json.error.details).toEqual({ reason: 'erased' });
    expect(target.posts()).toHaveLength(1);
  });

  it('pending deliveries end as failed with reason erased, including those that a worker has claimed', async () => {
    const secret = word();
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const target = targets.open(async () => {
      await held;
      return { status: 500 };
    });
    const destination = await destinationAt(server, target.url, RARE_RETRIES);
    const underWay = await send(server, destination, { payload: { secret } });
    await target.arrived(1);
    // 32 deliveries fill the target's concurrency limit, so the next one waits in the scheduler's memory.
    for (let n = 0; n < 31; n += 1) await send(server, destination);
    await target.arrived(32);
    const behind = await send(server, destination, { payload: { secret } });

    for (const id of [underWay, behind]) expectStatus(await erase(id), 204);
    expect((await eventIn(server, behind, 'failed')).deliveries[0].reason).toBe('erased');
    letGo();

    const { deliveries, attempts } = await eventIn(server, underWay, 'failed');
    expect([deliveries[0].reason, attempts.length]).toEqual(['erased', 1]);
    expect(target.posts().filter(({ rawBody }) => rawBody.includes(secret))).toHaveLength(1);
    expect(await placesOf(secret)).toEqual([]);
  });

  it('a delivery that waits for its next attempt ends at once', async () => {
    const destination = await destinationAt(server, targets.open(() => ({ status: 500 })).url, RARE_RETRIES);
    const message = await send(server, destination);
    await eventAfter(server, message, 1);
    await sql.rows(`update due_deliveries set due_at = now() + interval '1 hour' where event_id = $1`, [
      uuidOf(message),
    ]);

    expectStatus(await erase(message), 204);

    expect(await eventOf(server, message)).toMatchObject({
      status: 'failed',
      deliveries: [{ reason: 'erased' }],
      attempts: [{ status: 500 }],
    });
  });

  it('the events of a fan-out share one payload: erasing it by any of their ids erases it for all', async () => {
    const [app, secret] = [randomUUID(), word()];
    const good = targets.open();
    await endpointOf(server, app, { url: good.url });
    await endpointOf(server, app, { url: targets.open(() => ({ status: 500 })).url, retry: RARE_RETRIES.retry });
    const message = await emit(server, app, { payload: { secret } });
    await good.arrived(1);
    const attempts = (): Promise<unknown[]> =>
      sql.rows('select 1 from attempts where event_id > $1', [uuidOf(message)]);
    await until(attempts, ({ length }) => length === 2, WITHIN_MS);
    const [first] = await eventsOf(server, message);

    expectStatus(await erase(first.id), 204);
    expectStatus(await erase(message), 204);

    expect(await placesOf(secret)).toEqual([]);
    await until(
      () => eventsOf(server, message),
      (events) =>
        events
          .map(({ status }) => status)
          .sort()
          .join() === 'delivered,failed',
      WITHIN_MS,
    );
    for (const { id } of await eventsOf(server, message)) {
      const event = await eventOf(server, id);
      expect(event.payload_erased_at).toEqual(expect.any(String));
      expect(event).not.toHaveProperty('payload');
      expectRefusal(await server.api('POST', `/v1/events/${id}/replay`), 409);
    }
  });

  it('a received event is erased with its request: query, body and header values; a replay of the range or the request reports this', async () => {
    const secret = word();
    const destination = await destinationAt(server, targets.open().url);
    const inlet = await inletTo(server, [destination]);
    const id = (await receive({ url: `${inlet.url}?token=${secret}` }, { secret }, { 'x-note': secret })) ?? '';
    await receive(inlet, { n: 1 });
    await settled(sql, inlet);
    expect(await placesOf(secret)).toEqual(
      expect.arrayContaining(['events.headers', 'events.query', 'requests.headers', 'requests.query', 'requests.url']),
    );

    expectStatus(await erase(id), 204);

    expect(await placesOf(secret)).toEqual([]);
    const path = `/v1/endpoints/${inlet.id}/requests/${id.replace('evt', 'req')}`;
    const request = expectStatus(await server.api('GET', path), 200).json;
    expect(request).toMatchObject({
      query: '',
      body: '',
      erased_at: expect.any(String),
      method: 'POST',
      url: inlet.url,
    });
    expect(Object.fromEntries(request.headers)).toMatchObject({ 'x-note': '' });
    const again = await server.api('POST', `${path}/replay`);
    expectRefusal(again, 409);
    expect(again.json.error.details).toEqual({ reason: 'erased' });
    expect(await dryRun(server, inlet)).toMatchObject({ scanned: 2, excluded: 1, replayed: 1 });
    expect(await replayed(server, inlet)).toMatchObject({ scanned: 2, excluded: 1, enqueued: 1 });
  });

  it('a recover job counts an erased event as excluded', async () => {
    const destination = await destinationAt(server, targets.open(() => ({ status: 500 })).url, {
      retry: { max_attempts: 1, schedule: [0] },
    });
    const message = await send(server, destination);
    await eventIn(server, message, 'dlq');
    expectStatus(await erase(message), 204);

    const { id } = expectStatus(await askRecover(server, destination, { since: LONG_AGO }), 202).json;

    expect(await jobIn(server, id, 'completed')).toMatchObject({ scanned: 1, excluded: 1, enqueued: 0 });
    expect((await eventOf(server, message)).status).toBe('dlq');
  });

  it('a pull shows that the event was erased, without its payload', async () => {
    const pull = expectStatus(await server.api('POST', '/v1/destinations', { name: 'Pulled', type: 'pull' }), 201).json
      .id as string;
    const message = await send(server, pull);
    expectStatus(await erase(message), 204);

    const page = await until(
      () => server.api('GET', `/v1/pull/${pull}`),
      ({ json }) => json.data.length === 1,
      WITHIN_MS,
    );

    expect(page.json.data[0]).toMatchObject({
      webhook_id: message,
      payload: null,
      payload_encoding: 'json',
      payload_erased_at: expect.any(String),
    });
  });

  it('404: no such event', async () => {
    for (const id of ['evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', 'nothing'])
      expectRefusal(await erase(id), 404);
  });
});
