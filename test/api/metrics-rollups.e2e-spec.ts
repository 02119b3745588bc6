import { showId } from '../../src/kernel/ids.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectRefusal } from './answers.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
  expectStatus,
  openSql,
  RARE_RETRIES,
  send,
  sendMany,
  startTargets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

const WINDOWS = { '1m': 60_000, '1h': 3_600_000, '1d': 86_400_000 };
type Window = keyof typeof WINDOWS;
const UNITS: Record<Window, string> = { '1m': 'minute', '1h': 'hour', '1d': 'day' };
const COUNTS = ['received', 'delivered', 'failed', 'retried', 'dlq', 'attempts'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

/** A time window of the metrics, as the API returns it. */
interface Item extends Counts {
  start: string;
  window: string;
  success_rate: number | null;
  latency_ms: { p50: number; p95: number; p99: number } | null;
}

/**
 * SQL that computes the expected metrics from the stored rows. Deliveries are counted at the start of their last
 * attempt, or at their end if they had no attempt.
 */
const HAPPENED = `
  with ended as (
    select d.*, d.status in ('delivered', 'dlq') or d.reason = 'gone' as by_attempt from deliveries d
  ), happened as (
    select target_id as key, accepted_at as at, 1 as received, 0 as delivered, 0 as failed, 0 as retried, 0 as dlq, null::int as ms
    from events where url is null
    union all
    select d.target_id, coalesce(case when d.by_attempt then a.started_at end, d.settled_at), 0, (d.status = 'delivered')::int,
           (d.status = 'failed')::int, 0, (d.status = 'dlq')::int, null
    from ended d join events e on e.id = d.event_id and e.url is null
      left join attempts a on a.event_id = d.event_id and a.ordinal = d.ordinal and a.number = d.attempts
    where d.reason is distinct from 'superseded'
    union all
    select d.target_id, a.started_at, 0, 0, 0, (not (d.by_attempt and a.number = d.attempts))::int, 0, a.duration_ms
    from attempts a join ended d on d.event_id = a.event_id and d.ordinal = a.ordinal
      join events e on e.id = d.event_id and e.url is null
  )`;

let server: PosthornServer;
let targets: Targets;
let sql: Sql;

beforeAll(async () => {
  targets = await startTargets();
  server = await startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' });
  sql = openSql(server);
  // Events do not store the time of their commit, so the test adds a column for it.
  await sql.rows('alter table events add column accepted_at timestamptz not null default now()');
});

afterAll(async () => {
  await sql?.close();
  await server?.stop();
  await targets?.close();
});

const ask = (query: Record<string, string>): Promise<ApiAnswer> =>
  server.api('GET', `/v1/metrics?${new URLSearchParams(query)}`);
const metrics = async (query: Record<string, string>): Promise<Item[]> => expectStatus(await ask(query), 200).json.data;
const busy = (items: Item[]): Item[] => items.filter((item) => COUNTS.some((count) => item[count] > 0));
const countsOf = (item: Counts): number[] => COUNTS.map((count) => Number(item[count]));

async function settledAndFolded(): Promise<void> {
  for (const table of ['due_deliveries', 'rollup_parts']) {
    await until(
      () => sql.rows(`select from ${table} limit 1`),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
  }
}

/** Inserts counts of one minute into `rollup_parts`, as the service does when it commits events or deliveries. */
async function addPart(
  key: string,
  minute: Date,
  { latenciesMs = [], ...counts }: Partial<Counts> & { latenciesMs?: number[] },
): Promise<void> {
  const { received = 0, delivered = 0, failed = 0, retried = 0, dlq = 0 } = counts;
  await sql.rows(
    `insert into rollup_parts (environment_id, key_id, minute, received, delivered, failed, retried, dlq, latencies_ms)
     select id, $1, date_trunc('minute', $2::timestamptz), $3, $4, $5, $6, $7, $8 from environments where mode = 'live'`,
    [uuidOf(key), minute, received, delivered, failed, retried, dlq, latenciesMs],
  );
}

const quietDestination = (): Promise<string> => destinationAt(server, targets.open().url);
const ago = (ms: number): Date => new Date(Date.now() - ms);

describe('GET /v1/metrics after a mixed load', () => {
  let keys: string[];

  beforeAll(async () => {
    const retried = { ...RARE_RETRIES, retry: { schedule: [0, 0, 0], max_attempts: 3 } };
    const slow = targets.open((_post, index) => ({ delayMs: (index * 37) % 400 }));
    const flaky = targets.open((_post, index) => ({ status: index % 3 === 0 ? 200 : 500, delayMs: index % 50 }));
    const broken = targets.open(() => ({ status: 500 }));
    const gone = targets.open(() => ({ status: 410 }));
    const left = targets.open(() => ({ status: 503 }));
    keys = await Promise.all([
      destinationAt(server, slow.url),
      destinationAt(server, flaky.url, retried),
      destinationAt(server, broken.url, retried),
      destinationAt(server, gone.url, RARE_RETRIES),
      destinationAt(server, left.url, RARE_RETRIES),
    ]);
    const pull = await server.api('POST', '/v1/destinations', { name: 'Fetched', type: 'pull' });
    keys.push(expectStatus(pull, 201).json.id as string);
    const [slowId, flakyId, brokenId, goneId, leftId, pullId] = keys as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];

    const [[replayed]] = await Promise.all([
      sendMany(server, slowId, 120),
      sendMany(server, flakyId, 60),
      sendMany(server, brokenId, 40),
      sendMany(server, leftId, 5),
      sendMany(server, pullId, 30),
      send(server, goneId),
      send(server, slow.url),
    ]);
    expectStatus(await server.api('POST', `/v1/events/${replayed}/replay`), 202);
    // Disabling the destination ends deliveries that wait for their second attempt.
    await until(
      () => sql.rows('select from due_deliveries where target_id = $1 and attempts = 1', [uuidOf(leftId)]),
      (rows) => rows.length === 5,
      WITHIN_MS,
    );
    expectStatus(await server.api('PATCH', `/v1/destinations/${leftId}`, { status: 'disabled' }), 200);
    await settledAndFolded();
  });

  it.each(Object.keys(WINDOWS) as Window[])(
    '200, %s: every count of every window matches the ledger',
    async (window) => {
      const rows = await sql.rows<Counts & { key: string; start: Date }>(`
      ${HAPPENED}
      select key, date_trunc('${UNITS[window]}', at, 'UTC') as start, sum(received) as received, sum(delivered) as delivered,
             sum(failed) as failed, sum(retried) as retried, sum(dlq) as dlq, count(ms) as attempts
      from happened group by key, start order by start`);
      const expected = keys.map((key) =>
        rows.filter((row) => row.key === uuidOf(key)).map((row) => [row.start.toISOString(), ...countsOf(row)]),
      );

      const shown = await Promise.all(
        keys.map(async (key) => busy(await metrics({ key, window })).map((item) => [item.start, ...countsOf(item)])),
      );

      expect(shown).toEqual(expected);
      // Checks that the test data contains every kind of count, so that the comparison above means something.
      const sums = COUNTS.map((_count, i) => shown.flat().reduce((sum, item) => sum + Number(item[i + 1]), 0));
      expect(sums).toEqual([256, expect.any(Number), 6, expect.any(Number), expect.any(Number), expect.any(Number)]);
      expect(Math.min(...sums)).toBeGreaterThan(5);
      expect(new Set(rows.map(({ key }) => key)).size).toBe(6);
    },
  );

  it.each(Object.keys(WINDOWS) as Window[])(
    '200, %s: latencies are within 1/16 of the exact values, and exact below 32 ms',
    async (window) => {
      const rows = await sql.rows<{ key: string; start: Date; exact: number[] }>(`
      ${HAPPENED}
      select key, date_trunc('${UNITS[window]}', at, 'UTC') as start, percentile_disc(array[0.5, 0.95, 0.99]) within group (order by ms) as exact
      from happened where ms is not null group by key, start`);
      let compared = 0;

      for (const { key, start, exact } of rows) {
        const [item] = await metrics({
          key: showId('dst', key),
          window,
          since: start.toISOString(),
          until: ago(-1).toISOString(),
        });
        const { p50, p95, p99 } = item?.latency_ms as NonNullable<Item['latency_ms']>;
        for (const [i, shown] of [p50, p95, p99].entries()) {
          const truth = exact[i] as number;
          expect(Math.abs(shown - truth) * 16).toBeLessThan(truth < 32 ? 1 : truth);
          compared += 1;
        }
      }
      expect(compared).toBeGreaterThanOrEqual(5 * 3);
    },
  );

  it('200: the success rate refers to ended deliveries; it and the latency are null in a window without any', async () => {
    const day = async (key: string): Promise<Item> => (await metrics({ key, window: '1d' })).at(-1) as Item;
    const [, flaky, broken, gone, left, pull] = (await Promise.all(keys.map(day))) as [
      Item,
      Item,
      Item,
      Item,
      Item,
      Item,
    ];

    expect(flaky.success_rate).toBeCloseTo(flaky.delivered / (flaky.delivered + flaky.dlq), 12);
    expect(broken).toMatchObject({ received: 40, delivered: 0, dlq: 40, retried: 80, attempts: 120, success_rate: 0 });
    expect(gone).toMatchObject({ received: 1, failed: 1, retried: 0, attempts: 1, success_rate: 0 });
    expect(left).toMatchObject({ received: 5, failed: 5, retried: 5, attempts: 5, success_rate: 0 });
    expect(pull).toMatchObject({ received: 30, delivered: 30, attempts: 0, success_rate: 1, latency_ms: null });
    expect((await metrics({ key: keys[0] as string, window: '1d' }))[0]).toEqual({
      start: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/),
      window: '1d',
      received: 0,
      delivered: 0,
      failed: 0,
      retried: 0,
      dlq: 0,
      attempts: 0,
      success_rate: null,
      latency_ms: null,
    });
  });

  it('GET /metrics reports the number of folded parts, and that none is pending', async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();

    expect(text).toMatch(/^posthorn_rollup_parts_folded_total [1-9]\d*$/m);
    expect(text).toMatch(/^posthorn_rollup_oldest_part_age_seconds 0$/m);
  });
});

describe('GET /v1/metrics of a time range', () => {
  it.each<[string, Window, number]>([
    ['', '1h', 48],
    ['1m', '1m', 60],
    ['1h', '1h', 48],
    ['1d', '1d', 30],
  ])('200, window "%s": windows of %s, the last %d, oldest first and without gaps', async (given, window, count) => {
    const key = await quietDestination();

    const items = await metrics({ key, ...(given && { window: given }) });

    const starts = items.map(({ start }) => Date.parse(start));
    const first = starts[0] as number;
    expect(starts).toEqual(Array.from({ length: count }, (_, i) => first + i * WINDOWS[window]));
    expect(Date.now() - (starts.at(-1) as number)).toBeLessThan(WINDOWS[window] + 60_000);
    expect(new Set(items.map((item) => item.window))).toEqual(new Set([window]));
  });

  it('200: since is inclusive, until is exclusive', async () => {
    const key = await quietDestination();
    const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
    const before = (hours: number): string => new Date(hour.getTime() - hours * 3_600_000).toISOString();
    for (const hours of [1, 2, 3, 4]) await addPart(key, new Date(before(hours)), { received: hours });
    await settledAndFolded();

    const items = await metrics({ key, since: before(3), until: before(1) });

    expect(items.map(({ start, received }) => [start, received])).toEqual([
      [before(3), 3],
      [before(2), 2],
    ]);
  });

  it('200: a late part is added to its own minute, hour and day', async () => {
    const key = await quietDestination();
    const minute = new Date(Math.floor(ago(3 * WINDOWS['1d']).getTime() / 60_000) * 60_000);
    const end = new Date(minute.getTime() + 1).toISOString();
    const item = async (window: Window): Promise<Item> =>
      (await metrics({ key, window, since: minute.toISOString(), until: end }))[0] as Item;
    await addPart(key, minute, { received: 2, delivered: 1, retried: 1, latenciesMs: [10, 31] });
    await settledAndFolded();
    expect(countsOf(await item('1m'))).toEqual([2, 1, 0, 1, 0, 2]);

    await addPart(key, minute, { delivered: 1, dlq: 3, failed: 1, latenciesMs: [5_000] });
    await settledAndFolded();

    for (const window of Object.keys(WINDOWS) as Window[]) {
      const { latency_ms: latency, success_rate: rate, ...counts } = await item(window);
      expect(countsOf(counts)).toEqual([2, 2, 1, 1, 3, 3]);
      expect(rate).toBeCloseTo(2 / 6, 12);
      expect(latency?.p50).toBe(31);
      expect(Math.abs((latency?.p99 ?? 0) - 5_000)).toBeLessThan(5_000 / 16);
    }
  });

  it('200: an endpoint counts the events that it received, and the outcomes of their deliveries to all destinations', async () => {
    const broken = targets.open(() => ({ status: 500 }));
    const good = await quietDestination();
    const bad = await destinationAt(server, broken.url, {
      ...RARE_RETRIES,
      retry: { schedule: [0, 0], max_attempts: 2 },
    });
    const created = await server.api('POST', '/v1/endpoints', { slug: 'counted', destinations: [good, bad] });
    const { id: endpoint, path } = expectStatus(created, 201).json as { id: string; path: string };
    const receive = async (): Promise<number> =>
      (await fetch(`${server.url}/in/${path}`, { method: 'POST', body: '{"n":1}' })).status;

    expect(new Set(await Promise.all(Array.from({ length: 12 }, receive)))).toEqual(new Set([200]));
    await settledAndFolded();

    const sums = async (key: string): Promise<number[]> => {
      const items = await metrics({ key, window: '1d' });
      return COUNTS.map((count) => items.reduce((sum, item) => sum + item[count], 0));
    };
    // The sums are, in this order: received, delivered, failed, retried, dlq and attempts.
    expect(await sums(endpoint)).toEqual([12, 12, 0, 12, 12, 36]);
    expect(await sums(good)).toEqual([12, 12, 0, 0, 0, 12]);
    expect(await sums(bad)).toEqual([12, 0, 0, 12, 12, 24]);
  });
});

describe('GET /v1/metrics rejects', () => {
  it.each<[string, Record<string, string>]>([
    ['no key', {}],
    ['a key with a NUL character', { key: 'dst_\u0000' }],
    ['an unknown window', { key: 'KEY', window: '5m' }],
    ['a since that is not a time', { key: 'KEY', since: 'yesterday' }],
    ['an until that is not a time', { key: 'KEY', until: '1800000000' }],
    ['a since without a time zone', { key: 'KEY', since: '2026-11-20T00:00:00' }],
    ['a range that ends where it begins', { key: 'KEY', since: '2026-11-20T00:00:00Z', until: '2026-11-20T00:00:00Z' }],
    ['a range that begins in the future', { key: 'KEY', since: '2999-01-01T00:00:00Z' }],
    [
      'a range of more than 1,440 windows',
      { key: 'KEY', window: '1m', since: '2026-11-20T00:00:00Z', until: '2026-11-21T00:01:00Z' },
    ],
    ['a range as long as the calendar', { key: 'KEY', since: '0000-01-01T00:00:00Z', until: '9999-12-31T23:59:59Z' }],
  ])('400: %s', async (_what, query) => {
    const key = await quietDestination();

    expectRefusal(await ask({ ...query, ...(query['key'] === 'KEY' && { key }) }), 400);
  });

  it('400: two keys', async () => {
    const key = await quietDestination();

    expectRefusal(await server.api('GET', `/v1/metrics?key=${key}&key=${key}`), 400);
  });

  it.each([
    ['empty', ''],
    ['not an id', 'x'],
    ['a prefix', 'dst_'],
    ['an id that is too short', 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B'],
    ['an id that is too long', `dst_${'0'.repeat(3_000)}`],
    ['an id with invalid letters', 'dst_uuuuuuuuuuuuuuuuuuuuuuuuuu'],
    ['SQL', "dst_'; drop table rollups; --"],
    ['an id of another kind of object', 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
    ['a destination that never existed', 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
    ['an endpoint that never existed', 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
  ])('404: a key that is %s', async (_what, key) => {
    expectRefusal(await ask({ key }), 404);
  });

  it("404: a destination of the organization's other environment, a deleted one, and a destination id with the prefix of an endpoint", async () => {
    const { key: testKey } = await createKey(server, { scope: 'write', environment: 'test' });
    const foreign = await server.api('POST', '/v1/destinations', { name: 'Theirs', type: 'pull' }, as(testKey));
    const theirs = expectStatus(foreign, 201).json.id as string;
    const deleted = await quietDestination();
    expectStatus(await server.api('DELETE', `/v1/destinations/${deleted}`), 204);

    for (const key of [theirs, deleted, `ep_${(await quietDestination()).slice(4)}`])
      expectRefusal(await ask({ key }), 404);
    expect((await server.api('GET', `/v1/metrics?key=${theirs}`, undefined, as(testKey))).status).toBe(200);
  });

  it('401: no key; 200: a key of scope read is enough', async () => {
    const key = await quietDestination();
    const { key: reader } = await createKey(server, { scope: 'read' });

    expectRefusal(await server.api('GET', `/v1/metrics?key=${key}`, undefined, as('ek_live_unknown')), 401);
    expect((await server.api('GET', `/v1/metrics?key=${key}`, undefined, as(reader))).status).toBe(200);
  });
});
