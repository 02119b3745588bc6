import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { until } from '../api/polling.js';
import type { Sql, Targets } from '../api/scene.js';
import {
  destinationAt,
  eventIn,
  expectStatus,
  openSql,
  RARE_RETRIES,
  send,
  sendMany,
  startTargets,
  WITHIN_MS,
} from '../api/scene.js';
import { freePort } from '../durability/processes.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { isRedisInstalled } from '../support/optional-tools.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

interface Queues {
  readonly env: Record<string, string>;
  /** Deletes every job. */
  empty(sql: Sql): Promise<void>;
  close(): Promise<void>;
}

const onPostgres = async (): Promise<Queues> => ({
  env: {},
  async empty(sql) {
    const tables = await sql.rows<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'bullmq' and tablename <> 'migration'`,
    );
    await sql.rows(`truncate ${tables.map(({ name }) => name).join(', ')} cascade`);
  },
  close: () => Promise.resolve(),
});

const hasRedis = isRedisInstalled();

const onRedis = async (): Promise<Queues> => {
  const port = await freePort();
  const redis = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    { stdio: 'ignore' },
  );
  const answers = (): Promise<boolean> =>
    command(port, 'PING').then(
      (answer) => answer.startsWith('+PONG'),
      () => false,
    );
  await until(answers, (isUp) => isUp, WITHIN_MS);
  return {
    env: { REDIS_URL: `redis://127.0.0.1:${port}` },
    async empty() {
      expect(await command(port, 'FLUSHALL')).toMatch(/^\+OK/);
    },
    async close() {
      redis.kill('SIGKILL');
      await once(redis, 'exit');
    },
  };
};

describe.each<[string, () => Promise<Queues>, boolean]>([
  ['PostgreSQL', onPostgres, true],
  ['Redis', onRedis, hasRedis],
])('separate roles, with the queues in %s', (place, open, isThere) => {
  if (!isThere) {
    // The tests may be skipped on a developer's machine, but not in CI.
    const report = process.env['CI'] === 'true' ? it : it.skip;
    report(`needs redis-server on the PATH to run with the queues in ${place}`, () => {
      throw new Error('redis-server is not installed.');
    });
    return;
  }

  let queues: Queues;
  let database: TestDatabase;
  let targets: Targets;
  let sql: Sql;
  let api: PosthornServer;
  let worker: PosthornServer;
  let extra: PosthornServer[];

  beforeAll(async () => {
    targets = await startTargets();
    database = await createDatabase();
    queues = await open();
    api = await startServer({ DATABASE_URL: database.url, ROLE: 'api', ...queues.env });
    worker = await startServer({ ...api.env, ROLE: 'worker' });
    sql = openSql({ databaseUrl: database.url });
    extra = [];
  });

  afterAll(async () => {
    await sql.close();
    for (const server of [api, worker, ...extra]) await server.stop();
    await queues.close();
    await database.drop();
    await targets.close();
  });

  const running = async ({ url }: PosthornServer): Promise<boolean> =>
    /^posthorn_deliveries_running \d/m.test(await (await fetch(`${url}/metrics`)).text());

  it('the api accepts and the worker delivers: it gets retries, replays, and changes of the destination', async () => {
    const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
    const destination = await destinationAt(api, target.url, { ...RARE_RETRIES, retry: { schedule: [0, 0] } });

    const messageId = await send(api, destination);

    expect((await eventIn(api, messageId, 'delivered')).attempts).toHaveLength(2);
    expectStatus(await api.api('PATCH', `/v1/destinations/${destination}`, { headers: { 'x-changed': 'yes' } }), 200);
    expectStatus(await api.api('POST', `/v1/events/${messageId}/replay`), 202);
    const posts = await target.arrived(3);
    expect(posts.map(({ headers }) => [headers['x-changed'], headers['webhook-replayed']])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      ['yes', 'true'],
    ]);
  });

  it('the api makes no attempt, and both serve health and metrics', async () => {
    for (const server of [api, worker]) {
      expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
      await until(
        async () => (await fetch(`${server.url}/health/ready`)).status,
        (status) => status === 200,
        WITHIN_MS,
      );
    }
    expect([await running(api), await running(worker)]).toEqual([false, true]);
    const metrics = async ({ url }: PosthornServer): Promise<string> => (await fetch(`${url}/metrics`)).text();
    expect(await metrics(api)).toMatch(/^posthorn_events_accepted_total [1-9]/m);
    expect(await metrics(worker)).toMatch(/^posthorn_deliveries_total\{outcome="delivered"\} [1-9]/m);
    expect(await metrics(api)).not.toMatch(/^posthorn_deliveries_total\{/m);
  });

  it('POST /v1/destinations/{id}/test at the api returns the attempt that the worker made', async () => {
    const target = targets.open(() => ({ status: 202, body: 'taken' }));
    const destination = await destinationAt(api, target.url);

    const answer = await api.api('POST', `/v1/destinations/${destination}/test`);

    expect(expectStatus(answer, 200).json.attempt).toMatchObject({ status: 202, response_excerpt: 'taken' });
  });

  it('several workers share the work, and each delivery is made once', async () => {
    const target = targets.open();
    const destination = await destinationAt(api, target.url);
    extra.push(await startServer({ ...api.env, ROLE: 'worker' }));

    const sent = await sendMany(api, destination, 400);

    const posts = await target.arrived(400, 60_000);
    await until(
      () => sql.rows('select from due_deliveries limit 1'),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
    expect(new Set(posts.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(sent));
    expect(target.posts()).toHaveLength(400);
  });

  it('if the queue is emptied while no worker runs, every accepted event is still delivered', async () => {
    const target = targets.open();
    const destination = await destinationAt(api, target.url);
    for (const server of [worker, ...extra.splice(0)]) await server.stop();
    const sent = await sendMany(api, destination, 50);

    await queues.empty(sql);
    const waiting = (await sql.rows('select from due_deliveries')).length;
    worker = await startServer({ ...api.env, ROLE: 'worker' });

    expect(waiting).toBe(50);
    await until(
      () => sql.rows('select from due_deliveries limit 1'),
      (rows) => rows.length === 0,
      WITHIN_MS,
    );
    expect(
      target
        .posts()
        .map(({ headers }) => headers['webhook-id'])
        .sort(),
    ).toEqual([...sent].sort());
    // Shows that workers still get notifications through the queue.
    await eventIn(api, await send(api, destination), 'delivered');
  });
});

/** Sends one inline command of the Redis protocol, and returns the reply. */
async function command(port: number, text: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write(`${text}\r\n`);
    return String((await once(socket, 'data'))[0]);
  } finally {
    socket.destroy();
  }
}
