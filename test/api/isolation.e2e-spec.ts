import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Answer } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import {
  destinationAt,
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

describe('isolation of targets', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    // Ends hanging requests, so that the server does not wait for them.
    await targets.close();
    await server.stop();
  });

  const openOf = async (destination: string): Promise<number> => {
    const [row] = await sql.rows<{ count: number }>(
      'select count(*)::int as count from due_deliveries where target_id = $1',
      [uuidOf(destination)],
    );
    return row?.count ?? 0;
  };

  it('while thousands of deliveries to a target that hangs wait, all deliveries to a healthy target complete', async () => {
    const dead = targets.open(() => ({ hang: true }));
    const healthy = targets.open();
    const [deadId, healthyId] = [
      await destinationAt(server, dead.url, RARE_RETRIES),
      await destinationAt(server, healthy.url),
    ];
    await sendMany(server, deadId, 3000);

    const sent = await sendMany(server, healthyId, 200);

    await until(
      () => openOf(healthyId),
      (open) => open === 0,
      WITHIN_MS,
    );
    expect(await openOf(deadId)).toBe(3000);
    expect(new Set(healthy.posts().map(({ headers }) => headers['webhook-id']))).toEqual(new Set(sent));
    expect(healthy.posts()).toHaveLength(200);
    expect(dead.posts().length).toBeLessThanOrEqual(100);
  });

  it('if the receivers of one tenant hang and use every slot of a worker, another tenant is delivered to before any of them ends', async () => {
    const small = await startServer({ DELIVERY_CONCURRENCY: '8' });
    const healthy = targets.open();
    const hanging = Array.from({ length: 24 }, () => targets.open(() => ({ hang: true })));
    const begun = (): number => hanging.reduce((sum, { posts }) => sum + posts().length, 0);
    const { key } = expectStatus(
      await small.api('POST', '/v1/keys', { name: 'another tenant', scope: 'write', environment: 'test' }),
      201,
    ).json;
    for (const { url } of hanging) {
      const body = { destination: url, event_type: 'a', payload: {} };
      expectStatus(await small.api('POST', '/v1/send', body, { authorization: `Bearer ${key}` }), 202);
    }
    await until(
      async () => begun(),
      (count) => count === 8,
      WITHIN_MS,
    );

    const sent = await sendMany(small, await destinationAt(small, healthy.url), 5);
    for (const messageId of sent) await eventIn(small, messageId, 'delivered');

    // Proves that the hanging attempts still hold their slots: the only stored attempts are those at the healthy
    // target.
    const rows = openSql(small);
    expect(await rows.rows('select from attempts')).toHaveLength(sent.length);
    await rows.close();
    await small.kill('SIGKILL');
    await small.stop().catch(() => undefined);
  });

  it('targets of one environment that hardly ever respond get a quarter of the slots beside an environment that does, and all their deliveries arrive once they respond', async () => {
    const small = await startServer({ DELIVERY_CONCURRENCY: '16' });
    const known = targets.open();
    let isHanging = true;
    const hanging = Array.from({ length: 60 }, () => targets.open(() => (isHanging ? { hang: true } : {})));
    const figure = async (name: string): Promise<number> =>
      Number(new RegExp(`^posthorn_${name} (\\d+)`, 'm').exec(await (await fetch(`${small.url}/metrics`)).text())?.[1]);
    const knownId = await destinationAt(small, known.url);
    const sendKnown = async (): Promise<void> => void (await eventIn(small, await send(small, knownId), 'delivered'));
    await sendKnown();
    const sent: string[] = [];
    for (const { url } of hanging) {
      const id = await destinationAt(small, url, {
        timeout_ms: 1000,
        retry: { schedule: Array.from({ length: 20 }, () => 1) },
        config: { circuit_breaker: { failure_threshold: 1000 } },
      });
      sent.push(await send(small, id));
    }

    await until(
      async () => {
        await sendKnown();
        return figure('targets_held_back');
      },
      (count) => count > 20,
      WITHIN_MS,
    );
    await until(
      async () => {
        await sendKnown();
        return figure('deliveries_running');
      },
      (count) => count <= 4,
      WITHIN_MS,
    );
    isHanging = false;

    for (const messageId of sent) await eventIn(small, messageId, 'delivered');
    expect(await figure('targets_held_back')).toBe(0);
    await small.stop();
  });

  /** Inserts copies of a message's delivery, all of which have been due for an hour. */
  const copy = (messageId: string, count: number): Promise<unknown> =>
    sql.rows(
      `with one as (select * from events where id = $1), made as (
         insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
         select environment_id, gen_random_uuid(), expires_on, target_id, direction, event_type, payload_bytes, payload
         from one, generate_series(1, $2) returning *
       )
       insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used, replayed, superseded)
       select environment_id, id, 0, expires_on, target_id, now() - interval '1 hour', false, 0, 0, false, false from made`,
      [uuidOf(messageId), count],
    );

  it('retries to a healthy target do not wait, although more deliveries to a target that hangs are due than a worker can hold', async () => {
    const dead = targets.open(() => ({ hang: true }));
    const healthy = targets.open((_post, index) => ({ status: index < 50 ? 500 : 200 }));
    const [deadId, healthyId] = [
      await destinationAt(server, dead.url, RARE_RETRIES),
      await destinationAt(server, healthy.url, RARE_RETRIES),
    ];
    const [first] = (await sendMany(server, deadId, 1)) as [string];
    const retried = await sendMany(server, healthyId, 50);
    await until(
      () => sql.rows('select from due_deliveries where target_id = $1 and attempts = 1', [uuidOf(healthyId)]),
      (rows) => rows.length === 50,
      WITHIN_MS,
    );
    await copy(first, 12_000);

    await sql.rows('update due_deliveries set due_at = now() where target_id = $1', [uuidOf(healthyId)]);

    await until(
      () => openOf(healthyId),
      (open) => open === 0,
      40_000,
    );
    expect(await openOf(deadId)).toBe(12_001);
    for (const messageId of retried.slice(0, 3))
      expect((await eventIn(server, messageId, 'delivered')).attempts).toHaveLength(2);
  });

  it('a rate_limit applies across two nodes: no second has more deliveries than the rate, and everything arrives', async () => {
    const PER_SECOND = 40;
    const COUNT = 160;
    const other = await startServer({ ...server.env });
    const lag = monitorEventLoopDelay({ resolution: 5 });
    const target = targets.open();
    const destination = await destinationAt(server, target.url, { rate_limit: { per_second: PER_SECOND } });
    lag.enable();

    const sent = (await Promise.all([server, other].map((node) => sendMany(node, destination, COUNT / 2)))).flat();

    const posts = await target.arrived(COUNT, 60_000);
    lag.disable();
    await other.stop();
    expect(new Set(posts.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(sent));
    // If this process stalls, it records several deliveries at once. The maximum event loop lag shows how long it
    // stalled.
    const stalledSeconds = lag.max / 1e9;
    const most = PER_SECOND * (1.5 + stalledSeconds) + Math.max(1, PER_SECOND / 10);
    const atMs = posts.map(({ at }) => at.getTime());
    const inSecondFrom = atMs.map((start) => atMs.filter((ms) => ms >= start && ms < start + 1000).length);
    expect(Math.max(...inSecondFrom)).toBeLessThanOrEqual(most);
    expect(target.posts()).toHaveLength(COUNT);
  });

  it('a 429 halves the number of concurrent attempts: the next one starts when fewer than half are running', async () => {
    const WINDOW = 32;
    const answers: ((answer: Answer) => void)[] = [];
    let running = 0;
    const runningAtArrival: number[] = [];
    const target = targets.open(async () => {
      running += 1;
      runningAtArrival.push(running);
      const answer = await new Promise<Answer>((resolve) => answers.push(resolve));
      running -= 1;
      return answer;
    });
    const destination = await destinationAt(server, target.url, RARE_RETRIES);
    const [row] = await Promise.all([sendMany(server, destination, 100), target.arrived(WINDOW)]);

    answers[0]?.({ status: 429 });
    await until(
      () => sql.rows('select from attempts where status = 429 and event_id = any($1)', [row.map(uuidOf)]),
      (rows) => rows.length === 1,
    );
    for (let next = 1; next < 100; next += 1) {
      await until(
        async () => answers.length,
        (length) => length > next,
        WITHIN_MS,
      );
      answers[next]?.({ status: 200 });
    }

    await until(
      () => openOf(destination),
      (open) => open === 1,
      WITHIN_MS,
    );
    expect(runningAtArrival[WINDOW - 1]).toBe(WINDOW);
    expect(runningAtArrival[WINDOW]).toBeLessThanOrEqual(WINDOW / 2);
    expect(target.posts()).toHaveLength(100);
  });
});
