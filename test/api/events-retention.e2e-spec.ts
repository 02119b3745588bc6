import { expiryDay } from '../../src/engine/expiry-day.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import { eventIn, eventOf, expectStatus, openSql, send, startTargets, uuidOf, WITHIN_MS } from './scene.js';

const DAY_MS = 86_400_000;
const dateIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

describe('retention of events', () => {
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

  const expiresOn = async (messageId: string): Promise<string | undefined> => {
    const [row] = await sql.rows<{ day: string }>('select expires_on::text as day from events where id = $1', [
      uuidOf(messageId),
    ]);
    return row?.day;
  };

  it('a new value of PATCH /v1/org applies to events accepted later, not to existing ones', async () => {
    const target = targets.open();
    const before = await send(server, target.url);

    const patched = await server.api('PATCH', '/v1/org', { retention_days: 90 });
    const longer = await send(server, target.url);
    expectStatus(await server.api('PATCH', '/v1/org', { retention_days: 7 }), 200);
    const shorter = await send(server, target.url);

    expect(patched.json.retention_days).toBe(90);
    expect([await expiresOn(before), await expiresOn(shorter)]).toEqual([dateIn(30), dateIn(7)]);
    expect([dateIn(90), dateIn(91), dateIn(92)]).toContain(await expiresOn(longer));
    for (const messageId of [before, longer, shorter]) await eventIn(server, messageId, 'delivered');
  });

  it('retention of a year uses about thirty future partitions per table, shared by several days, and existing events keep their partition', async () => {
    const target = targets.open();
    const before = await send(server, target.url);
    const dayBefore = await expiresOn(before);
    const dayOf = async (retentionDays: number): Promise<number> => {
      expectStatus(await server.api('PATCH', '/v1/org', { retention_days: retentionDays }), 200);
      return Date.parse((await expiresOn(await send(server, target.url))) ?? '') / DAY_MS;
    };
    const today = Math.floor(Date.now() / DAY_MS);

    const days = [await dayOf(365), await dayOf(180), await dayOf(364)];

    expect(days).toEqual([365, 180, 364].map((retentionDays) => expiryDay(today, retentionDays)));
    expect(days[0]).toBeGreaterThanOrEqual(today + 365);
    expect(await expiresOn(before)).toBe(dayBefore);
    const [{ count } = { count: 0 }] = await sql.rows<{ count: number }>(
      `select count(*)::int as count from pg_inherits where inhparent = 'events'::regclass`,
    );
    expect(count).toBeLessThan(50);
    expectStatus(await server.api('PATCH', '/v1/org', { retention_days: 30 }), 200);
  });

  it('the next start drops the partitions of a past day that has no open deliveries, and drops nothing else', async () => {
    const tables = ['events', 'deliveries', 'attempts'];
    for (const table of tables) {
      await sql.rows(
        `create table ${table}_p20200101 partition of ${table} for values from ('2020-01-01') to ('2020-01-02')`,
      );
    }
    const kept = await send(server, targets.open().url);
    const passed = await send(server, targets.open().url);
    await eventIn(server, passed, 'delivered');
    for (const table of tables) {
      await sql.rows(
        `update ${table} set expires_on = '2020-01-01' where ${table === 'events' ? 'id' : 'event_id'} = $1`,
        [uuidOf(passed)],
      );
    }
    expect(await eventOf(server, passed)).toMatchObject({ status: 'delivered', attempts: [{ number: 1 }] });
    // Adds a pending delivery, because a delivery can outlive its event, for example while its target's circuit stays
    // open.
    await sql.rows(
      `
      insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used, replayed, superseded)
      select environment_id, id, 1, expires_on, target_id, now() + interval '1 hour', false, 0, 0, false, false from events where id = $1`,
      [uuidOf(passed)],
    );

    const left = (): Promise<object[]> =>
      sql.rows(`select from pg_class where relname like '%\\_p20200101' and relkind = 'r'`);
    const next = await startServer({ ...server.env });
    await until(
      () => sql.rows('select from due_deliveries where event_id = $1', [uuidOf(passed)]),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
    expect(await left()).toHaveLength(tables.length);
    expect((await eventOf(server, passed)).deliveries).toContainEqual(
      expect.objectContaining({ status: 'failed', reason: 'expired' }),
    );
    await next.stop();

    const last = await startServer({ ...server.env });
    await until(left, (rows) => rows.length === 0, WITHIN_MS);
    for (const node of [server, next, last]) expect(node.logs()).not.toContain('A delivery could not be run');
    await last.stop();
    expectRefusal(await server.api('GET', `/v1/events/${passed}`), 404);
    expect((await eventOf(server, kept)).id).toBe(`evt_${kept.slice(4)}`);
  });
});
