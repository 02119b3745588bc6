import { randomUUID } from 'node:crypto';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid } from './answers.js';
import { until } from './polling.js';
import { accepted, inbound, json, provide, setSecret, whsec } from './receiving.js';
import { emit, endpointOf, eventsOf, LONG_AGO } from './recovering.js';
import { askReplay, inletTo, receiveMany, startReplay } from './replaying.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
  eventAfter,
  eventIn,
  expectStatus,
  openSql,
  RARE_RETRIES,
  send,
  sendMany,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';
import type { SystemEventTarget } from './system-event-target.js';
import { countOf, endWindows, flushSignals, listen } from './system-event-target.js';

const ULID = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const ONCE = { ...RARE_RETRIES, retry: { max_attempts: 1 } };

describe('system events', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let systemTarget: SystemEventTarget;

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

  /** Each test has its own destination, without events of earlier tests. */
  beforeEach(async () => {
    await flushSignals(sql);
    await endWindows(sql);
    systemTarget = await listen(server, targets);
  });

  const patch = async (destination: string, changes: object): Promise<void> =>
    void expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, changes), 200);

  const itemsOf = async (type: string): Promise<object[]> =>
    (await systemTarget.waitFor(type)).flatMap(({ data }) => data.items);

  it('destination.disabled and destination.enabled are sent when an API call disables or enables a destination', async () => {
    const destination = await destinationAt(server, targets.open().url, { name: 'Orders' });

    await patch(destination, { status: 'disabled' });
    const disabled = await itemsOf('destination.disabled');
    await patch(destination, { status: 'active' });
    const enabled = await itemsOf('destination.enabled');

    expect(disabled).toEqual([
      { destination, name: 'Orders', reason: 'Disabled through the API.', by: 'api', count: 1 },
    ]);
    expect(enabled).toEqual([{ destination, name: 'Orders', by: 'api', count: 1 }]);
  });

  it('destination.disabled: not if it was disabled before, and not for any other change', async () => {
    const destination = await destinationAt(server, targets.open().url);
    await patch(destination, { name: 'Renamed' });
    await patch(destination, { status: 'active' });
    await patch(destination, { status: 'disabled' });
    await patch(destination, { status: 'disabled', name: 'Once more' });

    await flushSignals(sql);
    const payloads = await systemTarget.waitFor('destination.disabled');

    expect(countOf(payloads)).toBe(1);
    expect(systemTarget.received('destination.enabled')).toEqual([]);
  });

  it('destination.disabled is sent when the receiver answers 410', async () => {
    const destination = await destinationAt(server, targets.open(() => ({ status: 410 })).url, { name: 'Gone' });

    await send(server, destination);

    expect(await itemsOf('destination.disabled')).toEqual([
      { destination, name: 'Gone', reason: 'The receiver answered 410 Gone.', by: 'receiver', count: 1 },
    ]);
  });

  it('circuit.opened and circuit.closed are sent once each, even if many probes fail in between', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const config = { circuit_breaker: { failure_threshold: 2 } };
    const destination = await destinationAt(server, target.url, {
      name: 'Down',
      retry: { schedule: [0, 36_000] },
      config,
    });
    for (let i = 0; i < 2; i += 1) await eventAfter(server, await send(server, destination), 1);
    const opened = await itemsOf('circuit.opened');
    await send(server, destination);
    const probe = (): Promise<unknown> =>
      sql.rows(
        `
      with due as (update circuits set probe_at = now() where target_id = $1 and state = 'open' returning environment_id)
      select pg_notify('posthorn', 'circuit:' || environment_id || ':' || $1::text) from due`,
        [uuidOf(destination)],
      );
    await probe();
    await target.arrived(3);
    await until(
      () =>
        sql.rows(`select from circuits where target_id = $1 and state = 'open' and probes = 1`, [uuidOf(destination)]),
      (rows) => rows.length === 1,
      WITHIN_MS,
    );

    target.answerBy(() => ({ status: 200 }));
    await probe();

    expect(opened).toEqual([{ destination, name: 'Down', count: 1 }]);
    expect(await itemsOf('circuit.closed')).toEqual([{ destination, name: 'Down', count: 1 }]);
    await flushSignals(sql);
    expect(countOf(systemTarget.received('circuit.opened'))).toBe(1);
  });

  it('circuit.opened: not for an ad-hoc URL, which has no name', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const failed = await sendMany(server, target.url, 10);
    const open = `select from circuits where state = 'open' and target_id = (select target_id from events where id = $1)`;
    await until(
      () => sql.rows(open, [uuidOf(failed[0] as string)]),
      (rows) => rows.length === 1,
      WITHIN_MS,
    );

    await flushSignals(sql);

    expect(systemTarget.target.posts()).toEqual([]);
  });

  it('event.dead_lettered: the number per target, with the latest event; inbound endpoints are not counted again', async () => {
    const target = targets.open(() => ({ status: 500 }));
    const destination = await destinationAt(server, target.url, { name: 'Dead', ...ONCE });
    const inlet = await inletTo(server, [destination]);
    const received = await receiveMany(inlet, 3);
    const sent = await sendMany(server, destination, 9);
    for (const id of [...sent, ...received]) await eventIn(server, id, 'dlq');

    await until(
      () => sql.rows('select from rollup_parts'),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
    await systemTarget.waitFor('event.dead_lettered');
    await endWindows(sql);

    const payloads = await systemTarget.waitFor('event.dead_lettered', (received) => countOf(received) >= 12);
    expect(countOf(payloads)).toBe(12);
    const items = payloads.flatMap(({ data }) => data.items);
    expect(new Set(items.map((item) => `${item['destination']} ${item['name']}`))).toEqual(
      new Set([`${destination} Dead`]),
    );
    const all = new Set([...sent.map((id) => id.replace('msg_', 'evt_')), ...received]);
    const last = items.at(-1)?.['event_ids'] as string[];
    expect(last).toHaveLength(10);
    expect(last).toEqual([...all].sort().reverse().slice(0, 10));
  });

  it('endpoint.verification_failing: at the tenth consecutive invalid signature', async () => {
    const endpoint = await inbound(server, { preset: 'standard-webhooks' });
    await setSecret(server, endpoint, whsec());
    const forged = json(
      { forged: true },
      { 'webhook-id': 'msg_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
    );

    for (let i = 0; i < 12; i += 1) expectStatus(await provide(server, endpoint.at, forged), 401);

    const [item] = (await itemsOf('endpoint.verification_failing')) as { last_event: string }[];
    expect(item).toEqual({
      endpoint: endpoint.id,
      path: endpoint.path,
      failures: 10,
      last_event: expect.any(String),
      count: 10,
    });
    const event = expectStatus(await server.api('GET', `/v1/events/${item?.last_event}`), 200).json;
    expect(event.status).toBe('quarantined');
  });

  it('endpoint.verification_failing: not for an endpoint without verification', async () => {
    const endpoint = await inbound(server, {});

    for (let i = 0; i < 12; i += 1) await accepted(server, endpoint);

    await flushSignals(sql);
    expect(systemTarget.received('endpoint.verification_failing')).toEqual([]);
  });

  it('replay.completed: with its counts', async () => {
    const inlet = await inletTo(server, [await destinationAt(server, targets.open().url)]);
    for (const id of await receiveMany(inlet, 4)) await eventIn(server, id, 'delivered');

    const job = await startReplay(server, inlet);

    expect(await itemsOf('replay.completed')).toEqual([
      {
        replay: job.id,
        kind: 'range',
        endpoint: inlet.id,
        state: 'completed',
        scanned: 4,
        replayed: 4,
        enqueued: 4,
        skipped: 0,
        excluded: 0,
        count: 1,
      },
    ]);
  });

  it.each([
    [
      'a destination',
      async () => {
        const destination = await destinationAt(server, targets.open(() => ({ status: 500 })).url, ONCE);
        return {
          subject: { destination },
          path: `destinations/${destination}`,
          message: await send(server, destination),
        };
      },
    ],
    [
      "an application's endpoint",
      async () => {
        const app = randomUUID();
        const endpoint = await endpointOf(server, app, {
          url: targets.open(() => ({ status: 500 })).url,
          retry: { max_attempts: 1 },
        });
        return {
          subject: { endpoint },
          path: `app/${app}/endpoints/${endpoint}`,
          message: (await eventsOf(server, await emit(server, app)))[0].id as string,
        };
      },
    ],
  ])('replay.completed: of a recovery of %s', async (_name, arrange) => {
    const { subject, path, message } = await arrange();
    await eventIn(server, message, 'dlq');

    const { id } = expectStatus(await server.api('POST', `/v1/${path}/recover`, { since: LONG_AGO }), 202).json;

    expect(await itemsOf('replay.completed')).toEqual([
      {
        replay: id,
        kind: 'recover',
        ...subject,
        state: 'completed',
        scanned: 1,
        replayed: 1,
        enqueued: 1,
        skipped: 0,
        excluded: 0,
        count: 1,
      },
    ]);
  });

  it('are ordinary events: listed under their type, and replayed with the same id', async () => {
    await patch(await destinationAt(server, targets.open().url), { status: 'disabled' });
    await systemTarget.waitFor('destination.disabled');

    const { data } = expectStatus(
      await server.api('GET', `/v1/events?endpoint=${systemTarget.destination}&event_type=destination.disabled`),
      200,
    ).json;
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({ event_type: 'destination.disabled' });
    await eventIn(server, data[0].id as string, 'delivered');
    expectStatus(await server.api('POST', `/v1/events/${data[0].id}/replay`), 202);

    await systemTarget.waitFor('destination.disabled', (payloads) => payloads.length === 2);
    const ids = systemTarget.target
      .posts()
      .filter(({ headers }) => headers['webhook-event-type'] === 'destination.disabled')
      .map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
  });

  it('about the system destination are not sent to it, which prevents a loop', async () => {
    await patch(systemTarget.destination, {
      config: { circuit_breaker: { failure_threshold: 1 } },
      retry: { max_attempts: 1 },
    });
    systemTarget.target.answerBy(() => ({ status: 500 }));
    const other = await destinationAt(server, targets.open().url);
    await patch(other, { status: 'disabled' });
    await until(
      () =>
        sql.rows(`select from circuits where target_id = $1 and state = 'open'`, [uuidOf(systemTarget.destination)]),
      (rows) => rows.length === 1,
      WITHIN_MS,
    );
    await until(
      () => sql.rows('select from rollup_parts'),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
    await patch(systemTarget.destination, { status: 'disabled' });
    await flushSignals(sql);

    const { data } = expectStatus(await server.api('GET', `/v1/events?endpoint=${systemTarget.destination}`), 200)
      .json as {
      data: { event_type: string }[];
    };

    expect(data.map(({ event_type: type }) => type)).toEqual(['destination.disabled']);
    expect(systemTarget.target.posts()).toHaveLength(1);
  });

  it('omit the system destination, and report the other destinations disabled with it', async () => {
    const other = await destinationAt(server, targets.open().url, { name: 'Another' });
    await patch(await destinationAt(server, targets.open().url), { status: 'disabled' });
    await systemTarget.waitFor('destination.disabled');
    await patch(systemTarget.destination, { status: 'disabled' });
    await patch(other, { status: 'disabled' });
    await patch(systemTarget.destination, { status: 'active' });

    await endWindows(sql);

    const [, second] = await systemTarget.waitFor('destination.disabled', (payloads) => payloads.length === 2);
    expect(second?.data).toMatchObject({ count: 1, items: [{ destination: other }], items_truncated: false });
  });

  describe('PATCH /v1/org {system_destination}', () => {
    const change = (value: unknown, key = server.apiKey): ReturnType<PosthornServer['api']> =>
      server.api('PATCH', '/v1/org', { system_destination: value }, as(key));
    const shown = async (): Promise<string | null> =>
      expectStatus(await server.api('GET', '/v1/org'), 200).json.system_destination;

    it('200: set, kept by other changes, and null for none', async () => {
      expect(await shown()).toBe(systemTarget.destination);
      expectStatus(await server.api('PATCH', '/v1/org', { name: 'Acme' }), 200);
      expect(await shown()).toBe(systemTarget.destination);

      expect(expectStatus(await change(null), 200).json.system_destination).toBeNull();

      await patch(await destinationAt(server, targets.open().url), { status: 'disabled' });
      await flushSignals(sql);
      expect(systemTarget.target.posts()).toEqual([]);
    });

    it('422: not a destination of this environment, and nothing else is changed either', async () => {
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });

      expectInvalid(await change(`dst_${ULID}`), 'schema', 'system_destination');
      expectInvalid(await change('https://example.com'), 'schema', 'system_destination');
      expectInvalid(await change(5), 'schema', 'system_destination');
      expectInvalid(await change(systemTarget.destination, key), 'schema', 'system_destination');
      const both = await server.api('PATCH', '/v1/org', { system_destination: `dst_${ULID}`, name: 'Not kept' });

      expectInvalid(both, 'schema', 'system_destination');
      expect((await server.api('GET', '/v1/org')).json).toMatchObject({
        system_destination: systemTarget.destination,
        name: expect.not.stringMatching('Not kept'),
      });
    });

    it("422: the internal destination of an application's endpoint", async () => {
      const id = uuidOf(`dst_${ULID}`);
      await sql.rows(
        `
        insert into destinations select (jsonb_populate_record(d, jsonb_build_object('id', $2::text, 'owner_id', $2::text))).*
        from destinations d where id = $1`,
        [uuidOf(systemTarget.destination), id],
      );

      expectInvalid(await change(`dst_${ULID}`), 'schema', 'system_destination');
    });

    it('shows null once the destination is deleted, and sends no system events', async () => {
      expectStatus(await server.api('DELETE', `/v1/destinations/${systemTarget.destination}`), 204);

      expect(await shown()).toBeNull();
      await patch(await destinationAt(server, targets.open().url), { status: 'disabled' });
      await flushSignals(sql);
      const { data } = expectStatus(
        await server.api('GET', `/v1/events?event_type=destination.disabled&endpoint=${systemTarget.destination}`),
        200,
      ).json;
      expect(data).toEqual([]);
    });

    it('belongs to one environment: changes in the other one are not sent to it', async () => {
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      const test: PosthornServer = {
        ...server,
        api: (method, path, body, headers) => server.api(method, path, body, { ...as(key), ...headers }),
      };
      const testTarget = await listen(test, targets);
      const destination = await destinationAt(test, targets.open().url);

      expectStatus(await test.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }), 200);

      expect((await testTarget.waitFor('destination.disabled')).flatMap(({ data }) => data.items)).toMatchObject([
        { destination },
      ]);
      expect(systemTarget.target.posts()).toEqual([]);
      expect(await shown()).toBe(systemTarget.destination);
    });
  });

  it('replay.completed: for a job on a list of events, its action, and the number of cancelled deliveries', async () => {
    const { id } = expectStatus(
      await server.api('POST', '/v1/replays', { action: 'cancel', filter: { event_type: 'nothing' } }),
      202,
    ).json;

    expect(await itemsOf('replay.completed')).toEqual([
      {
        replay: id,
        kind: 'events',
        action: 'cancel',
        state: 'completed',
        scanned: 0,
        replayed: 0,
        enqueued: 0,
        skipped: 0,
        excluded: 0,
        cancelled: 0,
        count: 1,
      },
    ]);
  });

  it('replay.completed: a job stopped before it starts ends at once, and is reported once', async () => {
    const api = await startServer({ ...server.env, ROLE: 'api', DATABASE_URL: server.databaseUrl });
    try {
      const held = await inletTo(server, []);
      const { id } = expectStatus(await askReplay(api, held), 202).json as { id: string };
      const first = await api.api('POST', `/v1/replays/${id}/stop`);
      await api.api('POST', `/v1/replays/${id}/stop`);

      const items = await itemsOf('replay.completed');
      await flushSignals(sql);
      expect(items).toHaveLength(1);
      // The worker can finish the job before the stop request takes effect.
      expect(items[0]).toMatchObject({
        replay: id,
        state: first.json.state === 'stopped' ? 'stopped' : expect.any(String),
        count: 1,
      });
    } finally {
      await api.stop();
    }
  });
});
