import { Redis } from 'ioredis';
import { ForgetfulRedis } from '../durability/redis.js';
import { isRedisInstalled } from '../support/optional-tools.js';
import type { Answer } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { applicationOf, emit, endpointAt, eventsIn, eventsOf } from './applications.js';
import { inOwnFleet } from './own-fleet.js';
import { until } from './polling.js';
import type { TargetPath } from './scene.js';
import { destinationAt, eventIn, eventOf, RARE_RETRIES, send, sendMany, WITHIN_MS } from './scene.js';

/**
 * Time limit for recovery. A dead worker's lease lasts up to 10 s. Another worker then releases the dead worker's
 * claims, but only if its own lease has been valid for 10 s.
 */
const RECOVERED_WITHIN_MS = 40_000;
/** Response time of a slow target: longer than a worker's lease, and shorter than the time limit of an attempt. */
const SLOW_MS = 13_000;

/**
 * Tests, while faults are injected, that Posthorn does not have known gaps of competing products (see
 * peers-gaps.e2e-spec.ts). The tests run concurrently, because all of them wait for leases.
 */
describe("peers' gaps, under faults", () => {
  const idsOf = (target: TargetPath): string[] =>
    target
      .posts()
      .map(({ headers }) => String(headers['webhook-id']))
      .sort();

  it.concurrent(
    'Svix worker.rs: after a worker is killed in the middle of a message, endpoints that answered 2xx get no second request',
    () =>
      inOwnFleet(async ({ targets, start }) => {
        let isHanging = true;
        const slow = targets.open((): Answer => (isHanging ? { hang: true } : {}));
        const fast = Array.from({ length: 5 }, () => targets.open());
        const server = await start();
        const application = await applicationOf(server);
        for (const { url } of [slow, ...fast]) await endpointAt(server, application, url);
        const { message_id: message } = await emit(server, application);
        await slow.arrived(1);
        await until(
          () => eventsOf(server, message, '&status=delivered'),
          (events) => events.length === 5,
          WITHIN_MS,
        );

        await server.kill('SIGKILL');
        isHanging = false;
        const next = await start();

        await eventsIn(next, message, 6, 'delivered', RECOVERED_WITHIN_MS);
        expect([slow, ...fast].map(idsOf)).toEqual([[message, message], ...fast.map(() => [message])]);
      }),
    90_000,
  );

  it.concurrent(
    'Outpost builder.go: an attempt that takes longer than the lease of its worker is made once, although a second worker runs',
    () =>
      inOwnFleet(async ({ targets, start }) => {
        const target = targets.open(() => ({ delayMs: SLOW_MS }));
        const server = await start();
        const other = await start();
        const destination = await destinationAt(server, target.url, { ...RARE_RETRIES, timeout_ms: 15_000 });

        const messages = await sendMany(server, destination, 10);

        for (const message of messages) {
          const {
            attempts: [attempt, ...more],
          } = await eventIn(other, message, 'delivered', RECOVERED_WITHIN_MS);
          expect([attempt, more]).toEqual([expect.objectContaining({ number: 1, status: 200 }), []]);
          // Proves that the attempt outlasted the lease. A shorter attempt would prove nothing.
          expect(attempt.duration_ms).toBeGreaterThan(10_000);
        }
        expect(idsOf(target)).toEqual([...messages].sort());
      }),
    90_000,
  );

  it.concurrent(
    'Svix #1511: events that are accepted while no worker runs are delivered later, and the API shows how long they have waited',
    () =>
      inOwnFleet(async ({ targets, start }) => {
        const target = targets.open();
        const api = await start({ ROLE: 'api' });
        const worker = await start({ ROLE: 'worker' });
        await eventIn(api, await send(api, target.url), 'delivered');
        const oldestMs = async (): Promise<number> =>
          (
            (await (await fetch(`${api.url}/health/ready`)).json()) as {
              parts: { storage: { oldest_due_age_ms: number } };
            }
          ).parts.storage.oldest_due_age_ms;
        await worker.stop();

        const messages = await sendMany(api, target.url, 5);
        const told = await until(oldestMs, (ageMs) => ageMs > 500, WITHIN_MS);
        const figures = await (await fetch(`${api.url}/metrics`)).text();
        await start({ ROLE: 'worker' });

        expect(told).toBeGreaterThan(500);
        expect(Number(/^posthorn_oldest_due_age_seconds (\S+)$/m.exec(figures)?.[1])).toBeGreaterThan(0);
        for (const message of messages) await eventIn(api, message, 'delivered', RECOVERED_WITHIN_MS);
        await until(oldestMs, (ageMs) => ageMs === 0, WITHIN_MS);
        expect(target.posts()).toHaveLength(6);
      }),
    90_000,
  );

  /** Returns everything that Redis contains. */
  async function snapshot(client: Redis): Promise<{ key: string; bytes: Buffer }[]> {
    const found = [];
    for (const key of await client.keys('*')) {
      const bytes = await client.dumpBuffer(key);
      if (bytes !== null) found.push({ key, bytes });
    }
    return found;
  }

  (isRedisInstalled() ? it.concurrent : it.skip)(
    'with the queue in Redis, Convoy #1788: restoring Redis from an old snapshot does not send later deliveries again',
    () =>
      inOwnFleet(async ({ targets, sql, start }) => {
        const redis = await ForgetfulRedis.start();
        const client = new Redis(redis.url);
        const env = { REDIS_URL: redis.url, RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' };
        const servers: PosthornServer[] = [];
        const startHere = async (role: string): Promise<PosthornServer> => {
          const server = await start({ ...env, ROLE: role });
          servers.push(server);
          return server;
        };
        const waitingJobs = async (): Promise<number> =>
          (await client.llen('{posthorn}:deliveries:wait')) + (await client.llen('{posthorn}:deliveries:active'));
        try {
          const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
          const api = await startHere('api');
          const destination = await destinationAt(api, target.url, { ...RARE_RETRIES, retry: { schedule: [0, 0, 0] } });
          const messages = await sendMany(api, destination, 20);
          await until(waitingJobs, (jobs) => jobs > 0, WITHIN_MS);
          const old = await snapshot(client);
          const worker = await startHere('worker');
          for (const message of messages) await eventIn(api, message, 'delivered', RECOVERED_WITHIN_MS);
          await worker.stop();
          const before = await Promise.all(messages.map((message) => eventOf(api, message)));

          await redis.killAndRestart();
          for (const { key, bytes } of old) await client.restore(key, 0, bytes, 'REPLACE');
          const jobs = await waitingJobs();
          const next = await startHere('worker');
          await until(waitingJobs, (left) => left === 0, WITHIN_MS);
          await eventIn(api, await send(api, destination), 'delivered', RECOVERED_WITHIN_MS);
          await until(
            () => sql.rows('select from due_deliveries'),
            (open) => open.length === 0,
            WITHIN_MS,
          );

          expect(jobs).toBeGreaterThan(0);
          expect(target.posts()).toHaveLength(22);
          expect(await Promise.all(messages.map((message) => eventOf(api, message)))).toEqual(before);
          expect(next.logs()).not.toMatch(/"level":(50|60|"error")/);
        } finally {
          client.disconnect();
          for (const server of servers) await server.kill('SIGKILL');
          await redis.stop();
        }
      }),
    120_000,
  );
});
