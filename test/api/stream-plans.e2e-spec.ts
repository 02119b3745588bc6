import { PassThrough } from 'node:stream';
import { setTimeout as rest } from 'node:timers/promises';
import type pg from 'pg';
import { dataSource } from '../../src/bootstrap/data-source.js';
import type { Authenticator, SessionAuthenticator } from '../../src/kernel/authenticator.js';
import { SystemClock } from '../../src/kernel/clock.js';
import type { Config } from '../../src/kernel/config/config.js';
import { Database, type Statement } from '../../src/kernel/database/database.js';
import type { Metrics } from '../../src/kernel/observability/metrics.js';
import type { Caller } from '../../src/kernel/tenant.js';
import { EventStream } from '../../src/modules/events/stream/stream.js';
import { StreamStore } from '../../src/modules/events/stream/stream.store.js';
import { StreamListener } from '../../src/modules/events/stream/stream-listener.js';
import type { StreamPosition } from '../../src/modules/events/stream/stream-position.js';
import { explain, type Plan, recorder } from '../architecture/plans.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { until } from './polling.js';
import { WITHIN_MS } from './scene.js';

const DAY_MS = 86_400_000;
const DAYS = 35;
const KEPT_DAYS = 30;
const EVENTS = 120_000;
const NO_SESSIONS = {} as SessionAuthenticator;

const iso = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/**
 * Returns SQL that inserts a month of events, each with a delivery and an attempt: 4,000 of each per daily partition.
 */
function fill(today: number): string[] {
  const partitions = Array.from({ length: DAYS }, (_, i) => today + i).flatMap((day) =>
    ['events', 'deliveries', 'attempts'].map(
      (table) =>
        `create table ${table}_p${iso(day).replaceAll('-', '')} partition of ${table} for values from ('${iso(day)}') to ('${iso(day + 1)}')`,
    ),
  );
  const at = `now() - interval '${KEPT_DAYS} days' * (1 - i::float8 / ${EVENTS})`;
  return [
    ...partitions,
    `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
     select 1, (lpad(to_hex(floor(extract(epoch from ${at}) * 1000)::bigint), 12, '0') || substr(md5(i::text), 1, 20))::uuid, date '${iso(today)}' + i * ${KEPT_DAYS} / ${EVENTS},
            gen_random_uuid(), 'outbound', 'bulk', 2, '{}' from generate_series(0, ${EVENTS} - 1) i`,
    `insert into attempts (environment_id, event_id, ordinal, number, expires_on, started_at, duration_ms, status)
     select environment_id, id, 0, 1, expires_on, to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0), 5, 200 from events order by id`,
    `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
     select a.environment_id, a.event_id, 0, a.expires_on, gen_random_uuid(), 'delivered', 1, false, false, a.started_at from attempts a order by a.event_id`,
  ];
}

/** Checks which index each statement of stream.store.ts uses, and how often the statements run. */
describe('the stream, with 120,000 events in 35 partitions', () => {
  let database: TestDatabase;
  let kernel: Database;
  let client: pg.PoolClient;
  let now: StreamPosition;

  beforeAll(async () => {
    database = await createDatabase('migrated');
    const source = await dataSource(database.url, 1).initialize();
    for (const statement of fill(Math.floor(Date.now() / DAY_MS))) await source.query(statement);
    // Vacuums the tables, as autovacuum would do later. This also summarizes the block ranges of the BRIN indexes.
    for (const table of ['events', 'deliveries', 'attempts']) await source.query(`vacuum (analyze) ${table}`);
    kernel = new Database(source, { databaseUrl: database.url } as Config);
    client = await (kernel as unknown as { readPool: { pool: pg.Pool } }).readPool.pool.connect();
    now = await new StreamStore(kernel).now();
  });

  afterAll(async () => {
    client?.release();
    await kernel?.close();
    await database?.drop();
  });

  async function planOf(from: StreamPosition, mode: 'generic' | 'custom'): Promise<Plan> {
    const { database: recording, recorded } = recorder();
    // Ignores the error of `read`, which gets no rows from the recording database.
    await new StreamStore(recording).read([1], from, null, 1_000).catch(() => undefined);
    const [statement] = recorded;
    if (!statement) throw new Error('Nothing was asked.');
    return explain(client, statement, mode);
  }

  it.each(['generic', 'custom'] as const)('%s: without new changes, no partition is scanned', async (mode) => {
    // The position is far beyond the current transaction id, so that no change is newer. Other databases of the server
    // advance this id during the test.
    const from = { ...now, xid: now.xid + 1_000_000_000n };
    // The first plan also reads pages of the system catalog. Their number depends on other sessions.
    await planOf(from, mode);
    const plan = await planOf(from, mode);

    expect([plan.scanned, plan.indexes]).toEqual([[], ['cluster_epochs_pkey']]);
    expect(plan.pages).toBeLessThan(20);
  });

  // The page limit allows 60 pages for each partition, and 25 for each of about 500 changes, which are joined by key.
  it.each(['generic', 'custom'] as const)(
    '%s: changes of the last hour are found by ids and block ranges, then joined by keys',
    async (mode) => {
      const plan = await planOf({ ...now, xid: 1n, atMs: now.atMs - 3_600_000 }, mode);

      expect(plan.scanned).toEqual([]);
      expect(plan.indexes).toEqual(
        expect.arrayContaining(['attempts_started_at_idx', 'deliveries_settled_at_idx', 'events_pkey']),
      );
      expect(plan.pages).toBeLessThan(DAYS * 60 + 520 * 25);
    },
  );

  it.each([
    ['key', 100, 'This key has 100 streams'],
    ['organization', 1_000, 'This organization has 1000 streams'],
    ['process', 2_000, 'Too many streams are'],
  ] as const)(
    '429 for one stream more than a %s can have open, %d, and accepted again once one is closed',
    async (whose, max, said) => {
      const stream = new EventStream(
        new StreamStore(kernel),
        { authenticate: async () => undefined } as unknown as Authenticator,
        NO_SESSIONS,
        new SystemClock(),
        { gauge: () => undefined } as unknown as Metrics,
      );
      const of = (i: number): Caller =>
        ({
          keyId: whose === 'key' ? 'k' : `k${i}`,
          scope: 'read',
          tenant: { organizationId: whose === 'process' ? i : 1, environmentId: 1 },
        }) as unknown as Caller;
      const listeners = Array.from({ length: max }, (_, i) => {
        stream.requireRoom(of(i));
        const listener = new StreamListener(
          { caller: of(i), proof: { kind: 'key', value: 'b' }, filter: {}, resumesAt: null, follows: true },
          new PassThrough().resume(),
          () => performance.now(),
        );
        stream.join(listener);
        return listener;
      });

      expect(() => stream.requireRoom(of(max))).toThrow(
        expect.objectContaining({ type: 'rate_limited', message: expect.stringContaining(said) }),
      );
      stream.leave(listeners[0] as StreamListener);
      expect(() => stream.requireRoom(of(max))).not.toThrow();
      await stream.onModuleDestroy();
    },
  );

  it('no statement runs without listeners, and 200 listeners share one', async () => {
    const asked: Statement[] = [];
    const counting = {
      readPrepared: (statement: Statement, values: unknown[]) => (
        asked.push(statement),
        kernel.readPrepared(statement, values)
      ),
    } as unknown as Database;
    const caller = { keyId: 'k', scope: 'read', tenant: { organizationId: 1, environmentId: 1 } } as unknown as Caller;
    const authenticator = { authenticate: async () => caller } as unknown as Authenticator;
    const stream = new EventStream(new StreamStore(counting), authenticator, NO_SESSIONS, new SystemClock(), {
      gauge: () => undefined,
    } as unknown as Metrics);
    const texts: string[] = Array.from({ length: 200 }, () => '');
    const listeners = texts.map((_, i) => {
      const answer = new PassThrough();
      answer.setEncoding('utf8').on('data', (text: string) => (texts[i] += text));
      return new StreamListener(
        { caller, proof: { kind: 'key', value: 'b' }, filter: {}, resumesAt: null, follows: true },
        answer,
        () => performance.now(),
      );
    });

    expect(asked).toEqual([]);
    for (const listener of listeners) stream.join(listener);
    await until(
      async () => texts.filter((text) => text.includes('event: ready')).length,
      (count) => count === 200,
      WITHIN_MS,
    );
    asked.length = 0;
    await client.query(`insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
      select 1, (lpad(to_hex(floor(extract(epoch from now()) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid, current_date, gen_random_uuid(), 'outbound', 'told', 2, '{}'`);
    await until(
      async () => texts.filter((text) => text.includes('event: accepted')).length,
      (count) => count === 200,
      WITHIN_MS,
    );
    const whileTheyListened = asked.length;
    for (const listener of listeners) stream.leave(listener);
    // Waits until a poll in progress has ended. After that, no statement may run for eight poll intervals.
    await rest(500);
    asked.length = 0;
    await rest(2_000);

    expect(whileTheyListened).toBeGreaterThan(0);
    expect(whileTheyListened).toBeLessThan(100);
    expect(asked).toEqual([]);
    await stream.onModuleDestroy();
  });
});
