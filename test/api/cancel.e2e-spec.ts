import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import { until } from './polling.js';
import { emit, endpointOf, eventsOf } from './recovering.js';
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
  sendMany,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

/** A cancellation ends all pending deliveries to a target. An attempt in flight finishes, and is not retried. */
describe('cancel', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await sharedServer();
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const cancel = (destination: string, body?: object): Promise<ApiAnswer> =>
    server.api('POST', `/v1/destinations/${destination}/cancel`, body);
  const cancelled = async (destination: string, body?: object): Promise<number> =>
    expectStatus(await cancel(destination, body), 200).json.cancelled as number;
  const reasons = async (destination: string): Promise<Record<string, number>> => {
    const rows = await sql.rows<{ reason: string; count: number }>(
      `select status || ' ' || coalesce(reason, '') as reason, count(*)::int as count from deliveries where target_id = $1 group by 1`,
      [uuidOf(destination)],
    );
    return Object.fromEntries(rows.map(({ reason, count }) => [reason.trim(), count]));
  };
  const open = async (destination: string): Promise<number> =>
    (await sql.rows('select 1 from due_deliveries where target_id = $1', [uuidOf(destination)])).length;

  /** Creates a destination with events whose first attempt failed and whose next attempt is due in an hour. */
  const waiting = async (...types: string[]): Promise<{ destination: string; messages: string[] }> => {
    const destination = await destinationAt(server, targets.open(() => ({ status: 500 })).url, RARE_RETRIES);
    const messages: string[] = [];
    for (const type of types) messages.push(await send(server, destination, { event_type: type, payload: {} }));
    for (const message of messages) {
      await eventAfter(server, message, 1);
      await sql.rows(`update due_deliveries set due_at = now() + interval '1 hour' where event_id = $1`, [
        uuidOf(message),
      ]);
    }
    return { destination, messages };
  };

  it('200: waiting deliveries end as failed with reason cancelled; their attempts stay, and later events are delivered', async () => {
    const { destination, messages } = await waiting('a', 'b', 'c');

    expect(await cancelled(destination)).toBe(3);

    for (const message of messages) {
      const { status, deliveries, attempts } = await eventOf(server, message);
      expect([status, deliveries[0].reason, attempts.length]).toEqual(['failed', 'cancelled', 1]);
    }
    expect(await cancelled(destination)).toBe(0);
    const later = await send(server, destination);
    expect((await eventAfter(server, later, 1)).status).toBe('retrying');
  });

  it('a cancel can be limited to one event type and to events accepted until a time', async () => {
    const { destination, messages } = await waiting('a', 'b');
    const { received_at: at } = await eventOf(server, messages[0] as string);
    const before = new Date(Date.parse(at) - 1).toISOString();

    expect(await cancelled(destination, { event_type: 'nothing' })).toBe(0);
    expect(await cancelled(destination, { until: before })).toBe(0);
    expect(await cancelled(destination, { event_type: 'b', until: before })).toBe(0);
    expect(await cancelled(destination, { event_type: 'b' })).toBe(1);
    expect((await eventOf(server, messages[0] as string)).status).toBe('retrying');
    expect(await cancelled(destination, { until: at })).toBe(1);
  });

  it('a target that hangs with a full scheduler: all deliveries end, nothing more is sent, and attempts in flight are not retried', async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const target = targets.open(async () => {
      await held;
      return { status: 500 };
    });
    const destination = await destinationAt(server, target.url, { ...RARE_RETRIES, timeout_ms: 15_000 });
    await sendMany(server, destination, 2_300);
    await target.arrived(32);

    expect(await cancelled(destination)).toBe(2_300);

    // The cancellation leaves only the attempts in flight: at most 32, because of the target's concurrency window.
    await until(
      () => open(destination),
      (rows) => rows <= 32,
      WITHIN_MS,
    );
    const sent = target.posts().length;
    const after = await send(server, destination, { event_type: 'after' });
    letGo();
    expect((await eventAfter(server, after, 1)).attempts[0].status).toBe(500);
    await until(
      () => open(destination),
      (rows) => rows === 1,
      WITHIN_MS,
    );
    expect(await reasons(destination)).toEqual({ 'failed cancelled': 2_300 });
    expect(target.posts()).toHaveLength(sent + 1);
  });

  it('an event accepted while a cancel waits for a row lock is not cancelled', async () => {
    const {
      destination,
      messages: [message = ''],
    } = await waiting('a');
    const other = new pg.Client({ connectionString: server.databaseUrl });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('select from due_deliveries where event_id = $1 for update', [uuidOf(message)]);
      const calls = [cancelled(destination), cancelled(destination, { until: '2100-01-01T00:00:00Z' })];
      const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%withdrawn%'`;
      await until(
        () => sql.rows(blocked),
        ({ length }) => length === 2,
        WITHIN_MS,
      );
      const later: string[] = [];
      for (let n = 0; n < 3; n += 1) later.push(await send(server, destination));
      for (const id of later) await eventAfter(server, id, 1);
      await other.query('rollback');

      expect((await Promise.all(calls)).sort()).toEqual([0, 1]);
      for (const id of later) expect((await eventOf(server, id)).status).toBe('retrying');
    } finally {
      await other.end();
    }
  });

  it('an attempt in flight that succeeds counts as delivered', async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const target = targets.open(async () => {
      await held;
      return {};
    });
    const destination = await destinationAt(server, target.url);
    const message = await send(server, destination);
    await target.arrived(1);

    expect(await cancelled(destination)).toBe(1);
    letGo();

    expect((await eventIn(server, message, 'delivered')).attempts).toHaveLength(1);
  });

  it('another process completes the cancel of a process that died, without an attempt', async () => {
    const {
      destination,
      messages: [message = ''],
    } = await waiting('a');
    await sql.rows(`update due_deliveries set withdrawn = 'cancelled', due_at = now() where event_id = $1`, [
      uuidOf(message),
    ]);

    const { deliveries, attempts } = await eventIn(server, message, 'failed');

    expect([deliveries[0].reason, attempts.length]).toEqual(['cancelled', 1]);
    expect(await open(destination)).toBe(0);
  });

  it("for an application's endpoint: cancels only its own deliveries at a destination that it shares", async () => {
    const app = randomUUID();
    const destination = await destinationAt(server, targets.open(() => ({ status: 500 })).url, RARE_RETRIES);
    const [mine, other] = [
      await endpointOf(server, app, { destination }),
      await endpointOf(server, app, { destination }),
    ];
    const own = await endpointOf(server, app, {
      url: targets.open(() => ({ status: 500 })).url,
      retry: RARE_RETRIES.retry,
    });
    const message = await emit(server, app);
    const attempted = (): Promise<unknown[]> =>
      sql.rows(`select 1 from due_deliveries where attempts > 0 and event_id > $1 and claimed_by is null`, [
        uuidOf(message),
      ]);
    await until(attempted, ({ length }) => length === 3, WITHIN_MS);
    await sql.rows(`update due_deliveries set due_at = now() + interval '1 hour' where event_id > $1`, [
      uuidOf(message),
    ]);

    const answers = [
      await server.api('POST', `/v1/app/${app}/endpoints/${mine}/cancel`, {}),
      await server.api('POST', `/v1/app/${app}/endpoints/${own}/cancel`),
    ];

    expect(answers.map(({ status, json }) => [status, json])).toEqual([
      [200, { cancelled: 1 }],
      [200, { cancelled: 1 }],
    ]);
    const states = (await eventsOf(server, message)).map(({ endpoint, status }) => `${endpoint} ${status}`);
    expect(states.sort()).toEqual([`${mine} failed`, `${own} failed`, `${other} retrying`].sort());
  });

  it.each([
    [
      'is disabled',
      (app: string, mine: string) => server.api('PATCH', `/v1/app/${app}/endpoints/${mine}`, { status: 'disabled' }),
      200,
    ],
    ['is deleted', (app: string, mine: string) => server.api('DELETE', `/v1/app/${app}/endpoints/${mine}`), 204],
    ['is deleted with its application', (app: string) => server.api('DELETE', `/v1/app/${app}`), 204],
  ])(
    "an application's endpoint that %s: its pending deliveries at a registered destination end, those of other endpoints continue",
    async (_how, leave, status) => {
      const [app, neighbour] = [randomUUID(), randomUUID()];
      const destination = await destinationAt(server, targets.open(() => ({ status: 500 })).url, RARE_RETRIES);
      const mine = await endpointOf(server, app, { destination });
      await endpointOf(server, neighbour, { destination });
      const [{ id: gone }] = await eventsOf(server, await emit(server, app));
      const [{ id: kept }] = await eventsOf(server, await emit(server, neighbour));
      for (const id of [gone, kept]) await eventAfter(server, id, 1);

      expectStatus(await leave(app, mine), status);

      expect(await eventOf(server, gone)).toMatchObject({
        status: 'failed',
        deliveries: [{ reason: 'cancelled' }],
        attempts: [{ status: 500 }],
      });
      expect((await eventOf(server, kept)).status).toBe('retrying');
    },
  );

  it('cancels a single event by its id, or all events of a fan-out by the message id', async () => {
    const {
      messages: [one = '', two = ''],
    } = await waiting('a', 'a');
    const app = randomUUID();
    for (let n = 0; n < 3; n += 1)
      await endpointOf(server, app, { url: targets.open(() => ({ status: 500 })).url, retry: RARE_RETRIES.retry });
    const message = await emit(server, app);
    await until(
      () =>
        sql.rows(`select 1 from due_deliveries where attempts > 0 and event_id > $1 and claimed_by is null`, [
          uuidOf(message),
        ]),
      ({ length }) => length === 3,
      WITHIN_MS,
    );
    await sql.rows(`update due_deliveries set due_at = now() + interval '1 hour' where event_id > $1`, [
      uuidOf(message),
    ]);
    const [first] = await eventsOf(server, message);

    const counts: unknown[] = [];
    for (const id of [one, one, first.id, message])
      counts.push(expectStatus(await server.api('POST', `/v1/events/${id}/cancel`), 200).json);

    expect(counts).toEqual([{ cancelled: 1 }, { cancelled: 0 }, { cancelled: 1 }, { cancelled: 2 }]);
    expect((await eventOf(server, two)).status).toBe('retrying');
    expect((await eventsOf(server, message)).map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
  });

  it('cancelled deliveries count as failed in the statistics', async () => {
    const { destination } = await waiting('a', 'b');

    await cancelled(destination);

    const failed = async (): Promise<number> => {
      const { data } = expectStatus(await server.api('GET', `/v1/metrics?key=${destination}`), 200).json as {
        data: { failed: number }[];
      };
      return data.reduce((sum, window) => sum + window.failed, 0);
    };
    await until(failed, (count) => count === 2, WITHIN_MS);
  });

  it('404 and 422: an object that does not exist, and invalid filters', async () => {
    const { destination } = await waiting('a');

    for (const id of ['dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', 'nothing']) expectRefusal(await cancel(id), 404);
    expectRefusal(await server.api('POST', '/v1/app/nobody/endpoints/nothing/cancel'), 404);
    for (const id of ['evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', 'nothing'])
      expectRefusal(await server.api('POST', `/v1/events/${id}/cancel`), 404);
    expectInvalid(await cancel(destination, { until: 'tomorrow' }), 'schema', 'until');
    expectInvalid(await cancel(destination, { until: '2016-12-31T23:59:60Z' }), 'schema', 'until');
    expectInvalid(await cancel(destination, { event_type: 7 }), 'schema', 'event_type');
    expect(await open(destination)).toBe(1);
  });
});
