import { createKey, expectInvalid, expectRefusal } from '../api/answers.js';
import { until } from '../api/polling.js';
import { eventAfter, eventIn, expectStatus, openSql, send, type Sql } from '../api/scene.js';
import { ForgetfulRedis } from '../durability/redis.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { isRedisInstalled } from '../support/optional-tools.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { isNatsInstalled, NatsServer, PASSWORD, USER } from './nats-server.js';
import { type CompiledSample, compileSample } from './sample.js';

const describeWithNats = isNatsInstalled() ? describe : describe.skip;
const describeWithRedis = isNatsInstalled() && isRedisInstalled() ? describe : describe.skip;

const STREAM = 'ORDERS';
/**
 * Time limit for results. It is shorter than the minute between two sweeps, so a result within this time comes from a
 * queue job.
 */
const BY_A_JOB_MS = 20_000;

let nats: NatsServer;
let sample: CompiledSample;

beforeAll(async () => {
  if (!isNatsInstalled()) return;
  sample = compileSample();
  nats = await NatsServer.start();
  await nats.addStream(STREAM, ['orders.>']);
});

afterAll(async () => {
  await nats?.stop();
});

const connected = (): object => ({ servers: [nats.address], subject: 'orders.{event_type}' });

const draft = (config: object = {}, credentials: object = { user: USER, password: PASSWORD }): object => ({
  name: 'Orders',
  type: 'nats',
  config: { ...connected(), ...config },
  credentials,
});

const destinationOn = async (server: PosthornServer, fields: object = {}): Promise<string> =>
  expectStatus(await server.api('POST', '/v1/destinations', { ...draft(), ...fields }), 201).json.id as string;

/** Returns the number of messages by subject, once the numbers add up to `messages`. */
const counted = async (server: PosthornServer, messages: number): Promise<Record<string, number>> => {
  const read = async (): Promise<{ subject: string; messages: number }[]> =>
    expectStatus(await server.api('GET', '/v1/nats/subjects'), 200).json.data;
  const rows = await until(read, (all) => all.reduce((sum, row) => sum + row.messages, 0) >= messages, BY_A_JOB_MS);
  const sums: Record<string, number> = {};
  for (const row of rows) sums[row.subject] = (sums[row.subject] ?? 0) + row.messages;
  return sums;
};

describeWithNats('the sample extension', () => {
  let database: TestDatabase;
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    database = await createDatabase();
    server = await startServer({ EXTENSIONS: sample.file, DATABASE_URL: database.url });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await database?.drop();
  });

  describe('its destination type', () => {
    it('publishes to the subject of the event, and the stream deduplicates a repeated message', async () => {
      const id = await send(server, await destinationOn(server), { event_type: 'invoice.paid/eu' });

      const { attempts } = await eventIn(server, id, 'delivered');

      const message = (await nats.stored(STREAM)).find(({ headers }) => headers['webhook-id'] === id);
      expect(message?.subject).toBe('orders.invoice.paid_eu');
      expect(message?.headers['nats-msg-id']).toMatch(new RegExp(`^${id}:[0-9a-f-]{36}$`));
      expect(attempts).toMatchObject([
        {
          status: 200,
          response_excerpt: expect.stringMatching(
            /^Stored in ORDERS as message \d+ with subject orders\.invoice\.paid_eu\.$/,
          ),
        },
      ]);
    });

    it('sends no header that is a command to the server', async () => {
      const id = await send(
        server,
        await destinationOn(server, { headers: { 'Nats-Rollup': 'all', 'x-kept': 'yes' } }),
      );

      await eventIn(server, id, 'delivered');

      const { headers } = (await nats.stored(STREAM)).find((message) => message.headers['webhook-id'] === id) ?? {};
      expect(headers).toMatchObject({ 'x-kept': 'yes' });
      expect(headers).not.toHaveProperty('nats-rollup');
    });

    it.each([
      ['no stream has the subject', { subject: 'invoices.{event_type}' }, /No stream stores/],
      ['no stream has the name', { stream: 'NOTHING' }, /No stream stores|stream not found/],
    ])('422: %s', async (_what, config, message) => {
      const answer = await server.api('POST', '/v1/destinations', draft(config));

      expectInvalid(answer, 'connectivity');
      expect(answer.json.error.message).toMatch(message);
    });

    it('422: a server without TLS at a tls:// address', async () => {
      const answer = await server.api(
        'POST',
        '/v1/destinations',
        draft({ servers: [nats.address.replace('nats:', 'tls:')] }),
      );

      expectInvalid(answer, 'connectivity');
      expect(answer.json.error.message).toContain('TLS');
    });

    it('201: an account that may publish but not read stream information', async () => {
      const destination = await destinationOn(server, draft({}, { user: 'publisher', password: PASSWORD }));

      await eventIn(server, await send(server, destination), 'delivered');

      const forbidden = await destinationOn(
        server,
        draft({ subject: 'other.{event_type}' }, { user: 'publisher', password: PASSWORD }),
      );
      const { attempts } = await eventAfter(server, await send(server, forbidden), 1);
      expect(attempts[0]).toMatchObject({ status: 403 });
    });

    it('uses the next server if one is down', async () => {
      const destination = await destinationOn(server, draft({ servers: ['nats://127.0.0.1:1099', nats.address] }));

      await eventIn(server, await send(server, destination), 'delivered');
    });
  });

  it('its listener: disabling a destination closes its connection immediately', async () => {
    const before = await nats.connections();
    const destination = await destinationOn(server);
    await eventIn(server, await send(server, destination), 'delivered');
    expect(await nats.connections()).toBe(before + 1);

    expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }), 200);

    // Waits less than 30 seconds, the idle timeout after which the connection would close anyway.
    await until(
      () => nats.connections(),
      (count) => count === before,
      10_000,
    );
  });

  it('its listener: an outage is logged', async () => {
    const destination = await destinationOn(server, {
      config: { ...connected(), circuit_breaker: { failure_threshold: 1 } },
    });
    await nats.down();

    await send(server, destination);

    await until(
      async () => server.logs(),
      (logs) => logs.includes(`Deliveries are held back because these targets do not respond: ${destination}.`),
      BY_A_JOB_MS,
    );
    await nats.up();
  });

  describe('its routes', () => {
    it('are in the OpenAPI document, with every field described', async () => {
      const { paths, components, tags } = (await server.api('GET', '/openapi.json')).json;

      expect(paths['/v1/nats/subjects'].get).toMatchObject({ operationId: 'listNatsSubjects', tags: ['NATS'] });
      expect(Object.keys(paths['/v1/nats/subjects/preview'].post.responses)).toEqual(
        expect.arrayContaining(['200', '401', '422', '429']),
      );
      expect(tags).toContainEqual({ name: 'NATS', description: 'Deliveries to NATS JetStream.' });
      const fields = ['NatsSubjectItem', 'NatsSubjectPage', 'NatsSubjectPreviewBody'].flatMap((name) =>
        Object.values(components.schemas[name].properties),
      );
      expect(fields).toHaveLength(9);
      for (const field of fields) expect(field).toHaveProperty('description');
    });

    it.each([
      [{ subject: 'orders.{event_type}', event_type: 'invoice.paid' }, 'orders.invoice.paid'],
      [{ subject: 'all', event_type: 'a b*>..c' }, 'all'],
      [{ subject: 'x.{event_type}.y', event_type: 'a b.*.>' }, 'x.a_b._._.y'],
    ])('200: a preview of %j', async (body, subject) => {
      expect(expectStatus(await server.api('POST', '/v1/nats/subjects/preview', body), 200).json).toEqual({ subject });
    });

    it('422: a preview of an invalid subject; 401: a preview without a key', async () => {
      const preview = (body: object, headers = {}) => server.api('POST', '/v1/nats/subjects/preview', body, headers);

      expectInvalid(await preview({ subject: 'orders.>', event_type: 'a' }), 'schema', 'subject');
      expectInvalid(await preview({ subject: 'orders', event_type: 'a', more: 1 }), 'schema', 'more');
      expectRefusal(await preview({ subject: 'orders', event_type: 'a' }, { authorization: '' }), 401);
    });

    it('200: pages of counts, which other tenants cannot see', async () => {
      await sql.rows(`insert into nats_publishes (environment_id, stream, subject, bytes, published_at)
        select e.id, 'PAGES', 'pages.' || n, 10, date_trunc('day', now(), 'UTC') - interval '38 hours 30 minutes'
        from environments e, generate_series(1, 3) n where e.mode = 'live'`);
      const destination = await destinationOn(server);
      await eventIn(server, await send(server, destination), 'delivered');
      const page = async (query: string) => (await server.api('GET', `/v1/nats/subjects?${query}`)).json;
      await until(
        () => page('limit=100'),
        ({ data }) => data.filter(({ stream }: { stream: string }) => stream === 'PAGES').length === 3,
        BY_A_JOB_MS,
      );

      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const { data, next_cursor: next } = await page(`limit=1${cursor && `&cursor=${cursor}`}`);
        seen.push(...data.map(({ hour, subject }: Record<string, string>) => `${hour} ${subject}`));
        cursor = next as string | null;
      }

      expect(seen).toEqual([...seen].sort().reverse());
      expect(seen.slice(-3)).toEqual(
        ['3', '2', '1'].map((n) => expect.stringMatching(new RegExp(`T09:00:00\\.000Z pages\\.${n}$`))),
      );
      expect(seen[0]).toMatch(/:00:00\.000Z orders\./);
      const other = {
        authorization: `Bearer ${(await createKey(server, { scope: 'read', environment: 'test' })).key}`,
      };
      expect((await server.api('GET', '/v1/nats/subjects', undefined, other)).json).toEqual({
        data: [],
        next_cursor: null,
      });
      const { next_cursor: ours } = await page('limit=1');
      expectRefusal(await server.api('GET', `/v1/nats/subjects?limit=1&cursor=${ours}`, undefined, other), 400);
    });
  });

  it('its migrations are recorded separately, match its entity, and its tables remain while the extension is removed', async () => {
    expect(await sql.rows('select name from nats_migrations')).toEqual([{ name: 'NatsSubjectHours1732500000000' }]);
    expect(await sql.rows(`select name from migrations where name like 'Nats%'`)).toEqual([]);
    const before = await sql.rows('select * from nats_subject_hours order by subject');
    expect(before.length).toBeGreaterThan(0);
    await sql.rows(
      `insert into nats_subject_hours select environment_id, '2020-01-01T00:00:00Z', 'OLD', 'old', 1, 1 from nats_subject_hours limit 1`,
    );
    const destination = await destinationOn(server);
    await server.stop();

    const { EXTENSIONS: _without, ...bare } = server.env;
    const plain = await startServer(bare);
    expectStatus(await plain.api('GET', `/v1/destinations/${destination}`), 200);
    expectRefusal(await plain.api('GET', '/v1/nats/subjects'), 404);
    const refused = await plain.api('POST', '/v1/destinations', draft());
    expect(refused.json.error.message).toBe(`nats delivery isn't supported yet`);
    await plain.stop();

    server = await startServer(server.env);
    await eventIn(server, await send(server, destination), 'delivered');
    expect(await sql.rows('select * from nats_subject_hours order by subject')).toEqual(expect.arrayContaining(before));
    // The periodic sweep deletes counts of hours that are more than a month ago.
    await until(
      () => sql.rows(`select * from nats_subject_hours where stream = 'OLD'`),
      (rows) => rows.length === 0,
    );
  });
});

describeWithNats('the job of the sample, with its queue in PostgreSQL', () => countsByJobs({}));

describeWithRedis('the job of the sample, with its queue in Redis', () => {
  let redis: ForgetfulRedis;
  const env: Record<string, string> = {};

  beforeAll(async () => {
    redis = await ForgetfulRedis.start();
    env['REDIS_URL'] = redis.url;
  });
  afterAll(() => redis?.stop());

  countsByJobs(env);
});

function countsByJobs(env: Record<string, string>): void {
  it('counts every message once, in a process that delivers', async () => {
    const database = await createDatabase();
    const worker = await startServer({ EXTENSIONS: sample.file, DATABASE_URL: database.url, ROLE: 'worker', ...env });
    const api = await startServer({ ...worker.env, ROLE: 'api' });
    try {
      const destination = await destinationOn(api);

      const ids = await Promise.all(
        Array.from({ length: 20 }, (_, i) => send(api, destination, { event_type: i % 2 ? 'a' : 'b.c' })),
      );
      for (const id of ids) await eventIn(api, id, 'delivered');

      expect(await counted(api, 20)).toEqual({ 'orders.a': 10, 'orders.b.c': 10 });
    } finally {
      await api.stop();
      await worker.stop();
      await database.drop();
    }
  });
}
