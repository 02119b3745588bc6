import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { lowestIdAt } from '../../src/kernel/ids.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectRefusal } from './answers.js';
import { applicationOf, emit, endpointAt } from './applications.js';
import { until } from './polling.js';
import { inbound, json, provide, setSecret, whsec } from './receiving.js';
import {
  destinationAt,
  expectStatus,
  openSql,
  send,
  type Sql,
  startTargets,
  type Targets,
  uuidOf,
  WITHIN_MS,
} from './scene.js';

const COUNTS = ['received', 'delivered', 'failed', 'retried', 'dlq', 'attempts'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
type Json = any;

let server: PosthornServer;
let targets: Targets;
let sql: Sql;
let testKey: string;

beforeAll(async () => {
  [server, targets] = await Promise.all([
    startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' }),
    startTargets(),
  ]);
  sql = openSql(server);
  testKey = (await createKey(server, { name: 'Test', scope: 'admin', environment: 'test' })).key;
});

afterAll(async () => {
  await sql?.close();
  await Promise.all([server?.stop(), targets?.close()]);
});

const get = async (path: string, headers = {}): Promise<Json> =>
  expectStatus(await server.api('GET', path, undefined, headers), 200).json;
const test = (): Record<string, string> => as(testKey);
const countsOf = (items: Counts[]): number[] =>
  COUNTS.map((count) => items.reduce((sum, item) => sum + item[count], 0));

async function settledAndFolded(): Promise<void> {
  for (const table of ['due_deliveries', 'rollup_parts']) {
    await until(
      () => sql.rows(`select from ${table} limit 1`),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
  }
}

/** This block must run first, because its tests count everything in the environment. */
describe('rollups of the environment and of an application', () => {
  let application: string;
  let broken: string;
  let endpoint: string;

  beforeAll(async () => {
    const bad = targets.open(() => ({ status: 500 }));
    const good = targets.open();
    const once = { retry: { schedule: [0, 0], max_attempts: 2 } };
    broken = await destinationAt(server, bad.url, once);
    const fine = await destinationAt(server, good.url);
    const pulled = expectStatus(await server.api('POST', '/v1/destinations', { name: 'Fetched', type: 'pull' }), 201)
      .json.id as string;
    application = await applicationOf(server, { uid: 'acme', name: 'Acme Inc.' });
    const own = await endpointAt(server, application, good.url);
    endpoint = own.id;
    await endpointAt(server, application, targets.open(() => ({ status: 500 })).url, once);
    expectStatus(await server.api('POST', `/v1/app/${application}/endpoints`, { destination: fine }), 201);
    const hook = await inbound(server, { slug: 'counted', destinations: [fine, broken, pulled] });
    // Accepts 4 sent messages, 1 fan-out to 3 endpoints, and 2 webhooks that go to 3 destinations each.
    for (const target of [fine, broken, broken, good.url]) await send(server, target);
    await emit(server, application);
    for (const n of [1, 2]) expect((await provide(server, hook.at, json({ n }))).status).toBe(200);
    await settledAndFolded();
  });

  it('200 overview: all accepted events, each once, and all deliveries, each once, to any target', async () => {
    const { data } = await get('/v1/metrics/overview?range=30d');

    // Each count adds the sent messages, the fan-out and the webhooks. received: 4 + 3 + 2. delivered: 2 + 2 + 2 × 2.
    // dlq: 2 + 1 + 2.
    expect(countsOf(data)).toEqual([9, 8, 0, 5, 5, 16]);
    expect(data).toHaveLength(30);
    const { data: hours } = await get('/v1/metrics/overview?range=24h&sparse=true');
    expect(countsOf(hours)).toEqual(countsOf(data));
    expect(hours.length).toBeLessThanOrEqual(2);
  });

  it('200 for an application: the deliveries of its endpoints, including those to a shared destination', async () => {
    const { data } = await get(`/v1/metrics?key=${application}&window=1d`);

    expect(countsOf(data)).toEqual([3, 2, 0, 1, 1, 4]);
  });

  it('200 overview: totals, latency, pending deliveries and the windows of each range', async () => {
    for (const [range, window, windows] of [
      ['1h', '1m', 60],
      ['24h', '1h', 24],
      ['7d', '1h', 168],
      ['30d', '1d', 30],
    ] as const) {
      const shown = await get(`/v1/metrics/overview?range=${range}`);

      expect(shown).toMatchObject({
        window,
        waiting: { count: 0, is_capped: false },
        total: { received: 9, delivered: 8, dlq: 5, attempts: 16 },
      });
      expect(shown.data).toHaveLength(windows);
      expect(countsOf(shown.data)).toEqual(countsOf([shown.total]));
      expect(shown.total.latency_ms).toEqual({
        p50: expect.any(Number),
        p95: expect.any(Number),
        p99: expect.any(Number),
      });
      expect(shown.total.success_rate).toBeCloseTo(8 / 13, 12);
      expect(shown.since).toBe(shown.data[0].start);
    }
    const sparse = await get('/v1/metrics/overview?application=acme&range=30d&sparse=true');
    expect(sparse.data.length).toBeLessThanOrEqual(2);
    expect(sparse.total).toMatchObject({ received: 3, delivered: 2, dlq: 1 });
  });

  it('200 overview: pending deliveries of the environment and of one application', async () => {
    const slow = await endpointAt(server, application, targets.open(() => ({ status: 503 })).url, {
      retry: { schedule: [0, 3600] },
    });
    const before = (await get('/v1/metrics/overview')).waiting.count as number;
    await emit(server, application);

    const shown = await until(
      () => get('/v1/metrics/overview?application=acme'),
      ({ waiting }) => waiting.count === 1,
      WITHIN_MS,
    );

    expect(shown.waiting).toEqual({ count: 1, is_capped: false, oldest_due_at: null });
    const whole = await until(
      () => get('/v1/metrics/overview'),
      ({ waiting }) => waiting.count === before + 1,
      WITHIN_MS,
    );
    expect(whole.waiting.is_capped).toBe(false);
    expectStatus(await server.api('DELETE', `/v1/app/${application}/endpoints/${slow.id}`), 204);
    await settledAndFolded();
  });

  it('200 targets: the worst first, including application endpoints, and none without a failure', async () => {
    const { data } = await get('/v1/metrics/targets?range=24h');

    expect(data[0]).toMatchObject({
      target: broken,
      application: null,
      dlq: 4,
      retried: 4,
      delivered: 0,
      failure_rate: 1,
    });
    expect(data[1]).toMatchObject({
      target: expect.stringMatching(/^ep_/),
      name: expect.stringMatching(/^(127\.0\.0\.1|localhost):\d+/),
      application,
      dlq: 2,
    });
    expect(JSON.stringify(data)).not.toContain(endpoint);
    for (const range of ['1h', '7d', '30d'])
      expect((await get(`/v1/metrics/targets?range=${range}&limit=1`)).data).toEqual([data[0]]);
  });

  it('another environment shows none of this', async () => {
    expect(countsOf((await get('/v1/metrics/overview?range=30d', test())).data)).toEqual([0, 0, 0, 0, 0, 0]);
    expect((await get('/v1/metrics/targets', test())).data).toEqual([]);
    for (const path of [
      `/v1/metrics?key=${application}`,
      `/v1/metrics/overview?application=${application}`,
      '/v1/metrics/overview?application=acme',
    ]) {
      expectRefusal(await server.api('GET', path, undefined, test()), 404);
    }
    expectRefusal(await server.api('GET', '/v1/metrics/overview?range=2h'), 400);
    expectRefusal(await server.api('GET', '/v1/metrics/targets?limit=101'), 400);
  });
});

describe('GET /v1/attention', () => {
  const concernsOf = async (type: string, headers = {}): Promise<Json[]> =>
    (await get('/v1/attention', headers)).data.filter((concern: Json) => concern.type === type);
  const environment = async (): Promise<number> =>
    (await sql.rows<{ id: number }>(`select id from environments where mode = 'live'`))[0]?.id as number;

  it('target.disabled: a destination and an application endpoint, with the time of disabling and not of the last change', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const application = await applicationOf(server);
    const { id } = await endpointAt(server, application, targets.open().url, { description: 'Main hook' });
    const shared = expectStatus(await server.api('POST', `/v1/app/${application}/endpoints`, { destination }), 201).json
      .id as string;
    expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }), 200);
    for (const each of [id, shared])
      expectStatus(
        await server.api('PATCH', `/v1/app/${application}/endpoints/${each}`, {
          status: 'disabled',
          disabled_reason: 'Asked for.',
        }),
        200,
      );
    const [{ since }] = (await concernsOf('target.disabled')).filter(({ subject }) => subject === destination);
    expectStatus(
      await server.api('PATCH', `/v1/destinations/${destination}`, { name: 'Renamed', status: 'disabled' }),
      200,
    );

    const concerns = await concernsOf('target.disabled');

    expect(concerns.find(({ subject }) => subject === destination)).toMatchObject({
      name: 'Renamed',
      since,
      count: 1,
      url: `/v1/destinations/${destination}`,
    });
    for (const [each, name] of [
      [id, 'Main hook'],
      [shared, expect.stringMatching(/^127\.0\.0\.1:\d+\//)],
    ]) {
      expect(concerns.find(({ subject }) => subject === each)).toMatchObject({
        name,
        sentence: expect.stringContaining('Asked for.'),
        url: `/v1/app/${application}/endpoints/${each}`,
      });
    }
    expect(await concernsOf('target.disabled', test())).toEqual([]);
    // Simulates a process of the previous release that disables a destination during a rolling upgrade.
    await sql.rows('update destinations set disabled_at = null where id = $1', [uuidOf(destination)]);
    expect((await concernsOf('target.disabled')).find(({ subject }) => subject === destination)).toMatchObject({
      since: expect.stringMatching(/Z$/),
    });
    expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'active' }), 200);
    expect((await concernsOf('target.disabled')).map(({ subject }) => subject)).not.toContain(destination);
  });

  it('circuit.open and dead_letters.growing: with the failures, until they end', async () => {
    const down = targets.open(() => ({ status: 500 }));
    const destination = await destinationAt(server, down.url, {
      retry: { schedule: [0], max_attempts: 1 },
      config: { circuit_breaker: { failure_threshold: 2 } },
    });
    for (let i = 0; i < 2; i++) await send(server, destination);

    const circuits = await until(
      () => concernsOf('circuit.open'),
      (rows) => rows.some(({ subject }) => subject === destination),
      WITHIN_MS,
    );
    const growing = await until(
      () => concernsOf('dead_letters.growing'),
      (rows) => rows.some(({ subject, count }) => subject === destination && count === 2),
      WITHIN_MS,
    );

    expect(circuits.find(({ subject }) => subject === destination)).toMatchObject({
      since: expect.any(String),
      url: `/v1/destinations/${destination}`,
      sentence: expect.stringContaining('circuit is open'),
    });
    expect(growing.find(({ subject }) => subject === destination).since).toMatch(/:00:00\.000Z$/);
    expect(await concernsOf('dead_letters.growing', test())).toEqual([]);
    // Moves the last dead letters back in time, so that they are not recent.
    await sql.rows(`update rollups set start = start - interval '20 hours' where key_id = $1 and resolution = '1h'`, [
      uuidOf(destination),
    ]);
    expect((await concernsOf('dead_letters.growing')).map(({ subject }) => subject)).not.toContain(destination);
    await sql.rows('update circuits set state = $1 where target_id = $2', ['closed', uuidOf(destination)]);
    expect((await concernsOf('circuit.open')).map(({ subject }) => subject)).not.toContain(destination);
  });

  it('verification.failing: the number of requests that an endpoint quarantined in a day', async () => {
    const hook = await inbound(server, { slug: 'signed', verification: 'preset', preset: 'standard-webhooks' });
    await setSecret(server, hook, whsec());
    for (const n of [1, 2, 3]) expect((await provide(server, hook.at, json({ n }))).status).toBe(401);

    const [concern] = await concernsOf('verification.failing');

    expect(concern).toMatchObject({ subject: hook.id, count: 3, url: `/v1/endpoints/${hook.id}` });
    expect(Math.abs(Date.parse(concern.since) - Date.now())).toBeLessThan(3_600_000);
    expect(await concernsOf('verification.failing', test())).toEqual([]);
  });

  it('deliveries.overdue, domain.records_lost and job.failed: from the stored rows', async () => {
    const environmentId = await environment();
    const [event, job, domain] = [1, 2, 3].map((n) => lowestIdAt(Date.now() + n));
    const now = new Date().toISOString();
    await sql.rows(
      `insert into replay_jobs (environment_id, id, replay_id, endpoint_id, state, destinations_used, stop_requested, before_id, from_id, total_estimate, scanned, replayed, enqueued,
         skipped, excluded, error, failures, created_at, finished_at) values ($1, $2, $2, $2, 'failed', '{}', false, $2, $2, 0, 0, 0, 0, 0, 0, 'Its page failed ten times.', 10, $3, $3)`,
      [environmentId, job, now],
    );
    await sql.rows(
      `insert into domains (environment_id, id, host, kind, state, token, is_owner, sending_enabled, receiving_enabled, return_path_seen, judged, missing_seconds, missing_seen_at, checks,
         next_check_at, version, created_at, updated_at, verified_at)
       values ($1, $2, 'lost.example', 'email', 'verified', 'x', true, true, true, true, '[]', 3600, $3, 1, now() + interval '1 day', 1, $3, $3, $3)`,
      [environmentId, domain, now],
    );
    // Inserts a delivery and locks its row during the request, so that no worker can claim the delivery.
    const overdue = await until(
      async () => {
        await sql.rows(
          `insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used, replayed, superseded)
         values ($1, $2, 0, current_date + 30, $2, now() - interval '5 minutes', false, 0, 0, false, false) on conflict do nothing`,
          [environmentId, event],
        );
        const { oldest_due_at: since } = (await get('/v1/metrics/overview')).waiting as {
          oldest_due_at: string | null;
        };
        return (await concernsOf('deliveries.overdue')).filter((concern) => concern.since === since);
      },
      (rows) => rows.length === 1,
      WITHIN_MS,
    );
    await sql.rows('delete from due_deliveries where event_id = $1', [event]);

    expect(overdue[0]).toMatchObject({
      subject: null,
      count: 1,
      url: '/v1/events?status=retrying',
      sentence: 'A delivery is overdue by more than one minute, and no worker claims them.',
    });
    expect(await concernsOf('job.failed')).toEqual([
      expect.objectContaining({ since: now, sentence: 'The job failed: Its page failed ten times.' }),
    ]);
    const [lost] = await concernsOf('domain.records_lost');
    expect(lost).toMatchObject({ name: 'lost.example', since: new Date(Date.parse(now) - 3_600_000).toISOString() });
    expect((await get('/v1/attention', test())).data).toEqual([]);
  });

  it('at most 25 entries of a type, and the response names the types that have more', async () => {
    const environmentId = await environment();
    await sql.rows(
      `insert into application_endpoints (environment_id, id, application_id, destination_id, description, event_types, channels, metadata, status, created_at, updated_at)
       select $1, gen_random_uuid(), id, gen_random_uuid(), 'Many', '{}', '{}', '{}', 'disabled', now(), now() from applications, generate_series(1, 40) where environment_id = $1 and uid = 'acme'`,
      [environmentId],
    );

    const { data, truncated } = await get('/v1/attention');

    expect(data.filter(({ type }: Json) => type === 'target.disabled')).toHaveLength(25);
    expect(truncated).toEqual(['target.disabled']);
  });
});

describe('searchable lists', () => {
  it('GET /v1/destinations by status, circuit, type and the beginning of the name, with a count', async () => {
    const make = async (name: string): Promise<string> => destinationAt(server, targets.open().url, { name });
    const [orders, percent, other] = [await make('Orders EU'), await make('100% sure'), await make('orders us')];
    expectStatus(await server.api('PATCH', `/v1/destinations/${other}`, { status: 'disabled' }), 200);
    await sql.rows(
      `insert into circuits (environment_id, target_id, state, consecutive_failures, opened_at, probe_at, probes) select id, $1, 'open', 10, now(), now() + interval '1 hour', 0 from environments where mode = 'live'`,
      [uuidOf(orders)],
    );
    const ids = async (query: string): Promise<string[]> =>
      (await get(`/v1/destinations?${query}`)).data.map(({ id }: Json) => id);

    expect(await ids('search=ORDERS')).toEqual([other, orders]);
    expect(await ids('search=orders&status=disabled')).toEqual([other]);
    expect(await ids('search=orders&circuit=open')).toEqual([orders]);
    expect(await ids('search=orders&circuit=closed&type=https')).toEqual([other]);
    expect(await ids('search=orders&circuit=half_open')).toEqual([]);
    // LIKE wildcards in a search are treated as plain characters.
    expect(await ids('search=100%25')).toEqual([percent]);
    expect(await ids('search=%25')).toEqual([]);
    expect(await ids('search=_rders')).toEqual([]);
    const page = await get('/v1/destinations?search=orders&limit=1&count=true');
    expect(page).toMatchObject({ data: [{ id: other }], count: { value: 2, is_capped: false } });
    expect(
      (await get(`/v1/destinations?search=orders&limit=1&cursor=${page.next_cursor}`)).data.map(({ id }: Json) => id),
    ).toEqual([orders]);
    expectRefusal(await server.api('GET', `/v1/destinations?search=other&limit=1&cursor=${page.next_cursor}`), 400);
    expect(await get('/v1/destinations?search=orders')).not.toHaveProperty('count');
    expect((await get('/v1/destinations?search=orders', test())).data).toEqual([]);
    for (const bad of ['status=off', 'circuit=ajar', 'search=', `search=${'x'.repeat(201)}`])
      expectRefusal(await server.api('GET', `/v1/destinations?${bad}`), 400);
  });

  it('GET /v1/endpoints by the beginning of the name or of the slug, but not of the organization slug', async () => {
    const { id } = await inbound(server, { slug: 'stripe-payments', name: 'Money' });
    const ids = async (query: string): Promise<string[]> =>
      (await get(`/v1/endpoints?${query}`)).data.map((row: Json) => row.id);

    expect(await ids('search=Stripe')).toEqual([id]);
    expect(await ids('search=mon&status=active')).toEqual([id]);
    expect(await ids('search=payments')).toEqual([]);
    expect(await ids('search=mon&status=paused')).toEqual([]);
    const [organization] = await sql.rows<{ slug: string }>(
      'select slug from organizations order by created_at limit 1',
    );
    expect(await ids(`search=${organization?.slug}`)).toEqual([]);
    expect((await get('/v1/endpoints?search=mon&count=true')).count).toEqual({ value: 1, is_capped: false });
  });

  it('GET /v1/app by the beginning of the name or the uid, over pages, counted up to 1,000', async () => {
    const first = await applicationOf(server, { uid: 'Zebra-1', name: 'Umbrella' });
    const second = await applicationOf(server, { uid: 'umbra', name: 'Zebra crossing' });
    const page = await get('/v1/app?search=zebra&limit=1&count=true');

    expect(page).toMatchObject({ data: [{ id: second }], count: { value: 2, is_capped: false } });
    expect(
      (await get(`/v1/app?search=zebra&limit=1&cursor=${page.next_cursor}`)).data.map(({ id }: Json) => id),
    ).toEqual([first]);
    await sql.rows(
      `insert into applications select id, gen_random_uuid(), 'many-' || i, 'Many', '{}', now(), now() from environments, generate_series(1, 1500) i where mode = 'live'`,
    );
    expect((await get('/v1/app?search=many&limit=1&count=true')).count).toEqual({ value: 1_000, is_capped: true });
    expect((await get('/v1/app?search=zebra', test())).data).toEqual([]);
  });
});

describe('compressed responses', () => {
  interface Raw {
    status: number;
    headers: Record<string, string | string[] | undefined>;
    body: Buffer;
  }
  /** Sends a request without decompressing the response. */
  const raw = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> =>
    new Promise((resolve, reject) => {
      const call = request(
        `${server.url}${path}`,
        { method, headers: { authorization: `Bearer ${server.apiKey}`, ...headers } },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
          );
        },
      );
      call.on('error', reject);
      call.end();
    });
  const large = (): string => `/v1/metrics/overview?range=7d`;

  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('%s: the same content, with the compressed length, for GET and HEAD', async (encoding, unpack) => {
    const accepting = { 'accept-encoding': encoding };
    const plain = await raw('/openapi.json');
    const packed = await raw('/openapi.json', accepting);
    const head = await raw('/openapi.json', accepting, 'HEAD');

    expect(packed.headers).toMatchObject({
      'content-encoding': encoding,
      vary: 'accept-encoding',
      'content-length': String(packed.body.length),
      'content-type': plain.headers['content-type'],
    });
    expect(packed.body.length * 4).toBeLessThan(plain.body.length);
    expect(unpack(packed.body).equals(plain.body)).toBe(true);
    expect(plain.headers).toMatchObject({ vary: 'accept-encoding', 'content-length': String(plain.body.length) });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(packed.headers['content-length']);
    const list = await raw(large(), accepting);
    expect(list.headers['content-encoding']).toBe(encoding);
    expect(JSON.parse(unpack(list.body).toString()).data).toHaveLength(168);
  });

  it('small responses, writes, secrets, pulls and receipts are not compressed', async () => {
    const accepting = { 'accept-encoding': 'gzip, br' };
    const pulled = expectStatus(await server.api('POST', '/v1/destinations', { name: 'Fetched', type: 'pull' }), 201)
      .json.id as string;
    await send(server, pulled, { payload: { text: 'x'.repeat(5_000) } });
    const items = await until(
      () => raw(`/v1/pull/${pulled}?limit=10`, accepting),
      ({ body }) => body.length > 5_000,
      WITHIN_MS,
    );
    const answers = await Promise.all([
      raw('/v1/org', accepting),
      raw('/v1/signing-secret', accepting),
      raw('/health/live', accepting),
    ]);

    for (const { headers } of [items, ...answers]) expect(headers).not.toHaveProperty('content-encoding');
  });

  it('a client that requests identity gets it, and many concurrent requests are all answered', async () => {
    expect((await raw(large(), { 'accept-encoding': 'identity' })).headers).not.toHaveProperty('content-encoding');
    expect((await raw(large(), { 'accept-encoding': 'br;q=0, gzip;q=0' })).headers).not.toHaveProperty(
      'content-encoding',
    );

    const many = await Promise.all(Array.from({ length: 30 }, () => raw(large(), { 'accept-encoding': 'gzip' })));

    const bodies = many.map(
      ({ headers, body }) =>
        JSON.parse((headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString()).data.length as number,
    );
    expect(new Set(bodies)).toEqual(new Set([168]));
    expect(many.every(({ headers, body }) => headers['content-length'] === String(body.length))).toBe(true);
  });
});
