import { inOwnFleet } from '../api/own-fleet.js';
import { until } from '../api/polling.js';
import type { Sql, TargetPath, Targets } from '../api/scene.js';
import {
  destinationAt,
  eventIn,
  eventOf,
  makeDue,
  openSql,
  RARE_RETRIES,
  send,
  sendMany,
  startTargets,
  WITHIN_MS,
} from '../api/scene.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

/**
 * Time limit for recovery. A dead worker's lease lasts up to 10 s. Another worker then releases the dead worker's
 * claims, but only if its own lease has been valid for 10 s.
 */
const RECOVERED_WITHIN_MS = 40_000;

const received = (target: TargetPath): unknown[] => target.posts().map(({ headers }) => headers['webhook-id']);

const openOf = async (sql: Sql): Promise<number> => (await sql.rows('select from due_deliveries')).length;

describe('the lifecycle of a process', () => {
  let database: TestDatabase;
  let targets: Targets;
  let sql: Sql;
  let env: Record<string, string>;
  let servers: PosthornServer[] = [];

  /** Starts a process on the suite's database with the suite's keys, and returns it. */
  const start = async (): Promise<PosthornServer> => {
    const server = await startServer(env);
    env = { ...server.env };
    servers.push(server);
    return server;
  };

  beforeAll(async () => {
    targets = await startTargets();
  });

  beforeEach(async () => {
    database = await createDatabase();
    env = { DATABASE_URL: database.url };
    sql = openSql({ databaseUrl: database.url });
  });

  afterEach(async () => {
    for (const server of servers) await server.kill('SIGKILL');
    servers = [];
    await sql.close();
    await database.drop();
  });

  afterAll(() => targets.close());

  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  const readiness = async (server: PosthornServer): Promise<number | null> =>
    fetch(`${server.url}/health/ready`).then(
      ({ status }) => status,
      () => null,
    );

  describe('SIGTERM', () => {
    it('SIGTERM with attempts in flight: readiness fails first, then they end and are recorded, exit code 0, and none is made twice', async () => {
      const release: (() => void)[] = [];
      const target = targets.open(
        () => new Promise((resolve) => release.push(() => resolve({ status: 200, body: 'whole' }))),
      );
      const server = await start();
      const sent = await sendMany(server, target.url, 20);
      await target.arrived(20);
      expect(await readiness(server)).toBe(200);

      await server.kill('SIGTERM');
      await until(
        () => readiness(server),
        (status) => status === 503,
        WITHIN_MS,
      );
      const stillRunning = isAlive(server.pid);
      for (const answer of release) answer();
      await server.stop();

      expect(stillRunning).toBe(true);
      const next = await start();
      for (const messageId of sent) {
        expect(await eventOf(next, messageId)).toMatchObject({
          status: 'delivered',
          attempts: [{ number: 1, status: 200, response_excerpt: 'whole' }],
        });
      }
      expect(new Set(received(target))).toEqual(new Set(sent));
      expect(target.posts()).toHaveLength(20);
    });

    it('SIGTERM with waiting deliveries: they are handed back, and the next start delivers each once', async () => {
      let answering = false;
      const release: (() => void)[] = [];
      const target = targets.open(() =>
        answering ? {} : new Promise((resolve) => release.push(() => resolve({ status: 200 }))),
      );
      const server = await start();
      const sent = await sendMany(server, target.url, 300);
      await target.arrived(32);

      await server.kill('SIGTERM');
      await until(
        async () => (await sql.rows('select from due_deliveries where claimed_by is null')).length,
        (free) => free > 200,
        WITHIN_MS,
      );
      answering = true;
      for (const answer of release) answer();
      await server.stop();
      const left = await openOf(sql);
      await start();

      expect(left).toBe(300 - release.length);
      await until(
        () => openOf(sql),
        (open) => open === 0,
        WITHIN_MS,
      );
      expect(new Set(received(target))).toEqual(new Set(sent));
      expect(target.posts()).toHaveLength(300);
      expect(await sql.rows('select from workers')).toHaveLength(1);
    });

    it("SIGTERM with a call in flight: it is answered, and the client's keep-alive connection does not delay the exit", async () => {
      let answer: (() => void) | undefined;
      const target = targets.open(() => new Promise((resolve) => (answer = () => resolve({ status: 200 }))));
      const server = await start();
      const destination = await destinationAt(server, target.url);
      const testing = server.api('POST', `/v1/destinations/${destination}/test`);
      await target.arrived(1);

      await server.kill('SIGTERM');
      await until(
        () => readiness(server),
        (status) => status === 503,
        WITHIN_MS,
      );
      answer?.();

      expect((await testing).json.attempt).toMatchObject({ number: 1, status: 200 });
      await server.stop();
    });

    it('SIGTERM with active senders: every message answered with 202 is delivered once, exit code 0', async () => {
      const target = targets.open();
      const server = await start();
      const accepted: string[] = [];
      let stopping = false;
      const sender = async (): Promise<void> => {
        while (!stopping)
          await send(server, target.url).then(
            (messageId) => accepted.push(messageId),
            () => (stopping = true),
          );
      };
      const senders = Array.from({ length: 8 }, sender);
      await until(
        async () => accepted.length,
        (count) => count > 50,
        WITHIN_MS,
      );

      await server.stop();
      await Promise.all(senders);

      await start();
      await until(
        () => openOf(sql),
        (open) => open === 0,
        WITHIN_MS,
      );
      const ids = received(target);
      expect(accepted.filter((messageId) => !ids.includes(messageId))).toEqual([]);
      expect(ids).toHaveLength(new Set(ids).size);
    });
  });
});

describe('the lifecycle of a process over an expired lease', () => {
  it.concurrent(
    'kill -9: after the next start on the same database, every accepted event is delivered',
    () =>
      inOwnFleet(async ({ targets, sql, start }) => {
        let hanging = true;
        const target = targets.open(() => ({ hang: hanging }));
        const failing = targets.open(() => ({ status: hanging ? 500 : 200 }));
        const server = await start();
        const retried = await send(
          server,
          await destinationAt(server, failing.url, { ...RARE_RETRIES, retry: { schedule: [0, 1, 1, 1] } }),
        );
        const sent = await sendMany(server, target.url, 100);
        await target.arrived(32);

        await server.kill('SIGKILL');
        hanging = false;
        const next = await start();

        await until(
          () => openOf(sql),
          (open) => open === 0,
          RECOVERED_WITHIN_MS,
        );
        for (const messageId of [...sent.slice(0, 5), retried]) await eventIn(next, messageId, 'delivered');
        const again = received(target).slice(32);
        expect(new Set([...received(target).slice(0, 32), ...again])).toEqual(new Set(sent));
        // Messages that were in flight at the kill were sent twice, and all other messages once.
        expect(again).toHaveLength(new Set(again).size);
        expect(new Set(again)).toEqual(new Set(sent));
      }),
    90_000,
  );

  it.concurrent(
    'a worker that was suspended for 12 s is replaced, and its late results are rejected',
    () =>
      inOwnFleet(async ({ targets, sql, start }) => {
        let answerFirst: (() => void) | undefined;
        const target = targets.open((_post, index) =>
          index === 0
            ? new Promise((resolve) => (answerFirst = () => resolve({ status: 200, body: 'late' })))
            : { status: index === 1 ? 500 : 200 },
        );
        const stalled = await start();
        const messageId = await send(stalled, await destinationAt(stalled, target.url, RARE_RETRIES));
        await target.arrived(1);
        const other = await start();

        await stalled.kill('SIGSTOP');
        const { attempts } = await until(
          () => eventOf(other, messageId),
          (event) => event.attempts.length === 1,
          RECOVERED_WITHIN_MS,
        );
        await stalled.kill('SIGCONT');
        answerFirst?.();

        const lost = async (): Promise<number> =>
          Number(/^posthorn_claims_lost_total (\d+)$/m.exec(await (await fetch(`${stalled.url}/metrics`)).text())?.[1]);
        await until(lost, (count) => count === 1, WITHIN_MS);
        expect(await eventOf(other, messageId)).toMatchObject({
          status: 'retrying',
          attempts: [{ number: 1, status: 500 }],
        });
        await makeDue(sql, messageId);
        expect((await eventIn(other, messageId, 'delivered')).attempts).toMatchObject([
          attempts[0],
          { number: 2, status: 200 },
        ]);
        expect(target.posts()).toHaveLength(3);
        // The stalled process continues under another worker name.
        for (const id of await sendMany(stalled, targets.open().url, 3)) await eventIn(stalled, id, 'delivered');
      }),
    90_000,
  );
});
