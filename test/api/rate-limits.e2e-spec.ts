import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../durability/processes.js';
import { isRedisInstalled } from '../support/optional-tools.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectRateLimitHeaders, expectRefusal } from './answers.js';
import { until } from './polling.js';

/** Quota window in seconds, so long that no quota is refilled during a test. */
const PER_HOUR = 3_600;

const quotaOf = ({ headers }: ApiAnswer): number[] =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`ratelimit-${name}`)));
const remainingOf = (apiAnswer: ApiAnswer): number => quotaOf(apiAnswer)[1] ?? NaN;

function expectTooMany(apiAnswer: ApiAnswer): void {
  expectRefusal(apiAnswer, 429);
  expectRateLimitHeaders(apiAnswer.headers);
  const [, remaining, reset] = quotaOf(apiAnswer);
  const retryAfter = apiAnswer.headers.get('retry-after');
  expect(remaining).toBe(0);
  expect(reset).toBeGreaterThanOrEqual(1);
  expect(retryAfter).toMatch(/^\d+$/);
  expect(Number(retryAfter)).toBeGreaterThanOrEqual(reset ?? Infinity);
}

/** Creates an API key and returns the header that authenticates with this key. */
async function fresh(server: PosthornServer, body: object = {}): Promise<Record<string, string>> {
  return as((await createKey(server, { scope: 'write', ...body })).key);
}

const ask = (server: PosthornServer, headers?: Record<string, string>): Promise<ApiAnswer> =>
  server.api('GET', '/v1/org', undefined, headers);

async function askTimes(count: number, server: PosthornServer, headers?: Record<string, string>): Promise<ApiAnswer[]> {
  const answers: ApiAnswer[] = [];
  for (let i = 0; i < count; i++) answers.push(await ask(server, headers));
  return answers;
}

describe('rate limits', () => {
  describe('a quota of five per key', () => {
    let server: PosthornServer;

    beforeAll(async () => {
      server = await startServer({ RATE_LIMIT_KEY: `5/${PER_HOUR}`, RATE_LIMIT_ORG: 'off' });
    });

    afterAll(() => server.stop());

    it('200 five times, then 429 with Retry-After; another key has its own five', async () => {
      const [mine, other] = [await fresh(server), await fresh(server)];

      const answers = await askTimes(7, server, mine);

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429]);
      expect(answers.slice(0, 5).map((answer) => quotaOf(answer).slice(0, 2))).toEqual([
        [5, 4],
        [5, 3],
        [5, 2],
        [5, 1],
        [5, 0],
      ]);
      for (const answer of answers.slice(5)) expectTooMany(answer);
      // The quota is refilled by one request every twelve minutes.
      expect(Math.abs((quotaOf(answers[4] as ApiAnswer)[2] ?? 0) - PER_HOUR)).toBeLessThanOrEqual(30);
      expect((await ask(server, other)).status).toBe(200);
    });

    it('every request counts, whatever its response, and 429 takes precedence over other errors', async () => {
      const mine = await fresh(server, { scope: 'read' });
      const calls: [string, string, unknown?][] = [
        ['GET', '/v1/nothing'],
        ['GET', '/v1/events?limit=0'],
        ['POST', '/v1/send', {}],
        ['GET', '/v1/billing'],
        ['HEAD', '/v1/org'],
      ];

      const counted: ApiAnswer[] = [];
      for (const [method, path, body] of calls) counted.push(await server.api(method, path, body, mine));
      const refused: ApiAnswer[] = [];
      for (const [method, path, body] of [...calls.slice(0, 4), ['POST', '/v1/send', '{"malformed'] as const]) {
        refused.push(await server.api(method, path, body, mine));
      }

      expect(counted.map(({ status }) => status)).toEqual([404, 400, 403, 501, 200]);
      expect(counted.map(remainingOf)).toEqual([4, 3, 2, 1, 0]);
      for (const answer of refused) expectTooMany(answer);
    });

    it('429 is not stored under an Idempotency-Key', async () => {
      const [used, free] = [await fresh(server), await fresh(server)];
      const once = { 'idempotency-key': randomUUID() };
      await askTimes(5, server, used);

      const refused = await server.api(
        'POST',
        '/v1/destinations',
        { name: 'Once', type: 'pull' },
        { ...used, ...once },
      );
      const created = await server.api(
        'POST',
        '/v1/destinations',
        { name: 'Once', type: 'pull' },
        { ...free, ...once },
      );

      expectTooMany(refused);
      expect(created.status).toBe(201);
      expect(created.headers.get('idempotent-replayed')).toBeNull();
    });

    it('without a valid key, requests count per address and do not reduce the quota of keys', async () => {
      const strangers = [
        '',
        'Basic YTpi',
        'Bearer ek_live_nothing',
        `Bearer ek_live_${'a'.repeat(49)}`,
        `Bearer ${'x'.repeat(600)}`,
      ].map((authorization) => ({ authorization }));
      const forwarded = {
        authorization: '',
        'x-forwarded-for': '203.0.113.7',
        forwarded: 'for=203.0.113.7',
        'x-real-ip': '203.0.113.7',
      };

      const answers: ApiAnswer[] = [];
      for (const headers of strangers) answers.push(await ask(server, headers));

      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
      expect(answers.map(remainingOf)).toEqual([4, 3, 2, 1, 0]);
      for (const headers of [...strangers, forwarded]) expectTooMany(await ask(server, headers));
      for (const path of ['/v1/destinations/%zz', '/openapi.json', '/nothing']) {
        expectTooMany(await server.api('GET', path, undefined, { authorization: '' }));
      }
    });

    it('health and metrics are exempt, even for an address without remaining quota', async () => {
      const stranger = { authorization: '' };
      await until(
        () => ask(server, stranger),
        ({ status }) => status === 429,
      );

      for (const path of ['/health/live', '/health/ready', '/metrics']) {
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => server.api('GET', path, undefined, stranger)),
        );
        expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
      }
      expectTooMany(await ask(server, stranger));
    });
  });

  it('after Retry-After the whole quota is available again', async () => {
    const server = await startServer({ RATE_LIMIT_KEY: '3/3', RATE_LIMIT_ORG: 'off' });
    const mine = await fresh(server);
    const refused = await until(
      () => ask(server, mine),
      ({ status }) => status === 429,
    );
    const retryAtMs = Date.now() + Number(refused.headers.get('retry-after')) * 1000;

    await until(
      async () => Date.now(),
      (nowMs) => nowMs >= retryAtMs,
    );
    const answers = await Promise.all(Array.from({ length: 3 }, () => ask(server, mine)));
    await server.stop();

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('per organization: all keys in both environments share one quota, and the headers show the lower one', async () => {
    const server = await startServer({ RATE_LIMIT_KEY: `5/${PER_HOUR}`, RATE_LIMIT_ORG: `9/${PER_HOUR}` });
    const [live, test] = [await fresh(server), await fresh(server, { environment: 'test' })];

    const first = await askTimes(4, server, live);
    const second = await askTimes(4, server, test);
    const third = await ask(server, live);
    await server.stop();

    // The creation of the two keys used two of the organization's nine requests.
    expect(first.map((answer) => quotaOf(answer).slice(0, 2))).toEqual([
      [5, 4],
      [5, 3],
      [5, 2],
      [5, 1],
    ]);
    expect(second.slice(0, 3).map((answer) => quotaOf(answer).slice(0, 2))).toEqual([
      [9, 2],
      [9, 1],
      [9, 0],
    ]);
    expectTooMany(second[3] as ApiAnswer);
    expectTooMany(third);
  });

  it('off: no request is limited', async () => {
    const server = await startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off' });

    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(server)));
    await server.stop();

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  (isRedisInstalled() ? describe : describe.skip)('with REDIS_URL', () => {
    let redis: ChildProcess;
    let port: number;
    let nodes: [PosthornServer, PosthornServer];

    beforeAll(async () => {
      port = await freePort();
      redis = await startRedis();
      const quotas = { RATE_LIMIT_KEY: `10/${PER_HOUR}`, RATE_LIMIT_ORG: `1000/${PER_HOUR}` };
      const first = await startServer({ ...quotas, REDIS_URL: `redis://127.0.0.1:${port}/0` });
      nodes = [first, await startServer(first.env)];
    });

    afterAll(async () => {
      // The second node stops first, because stopping the first node drops the database.
      await nodes[1].stop();
      await nodes[0].stop();
      await stopRedis();
    });

    async function startRedis(): Promise<ChildProcess> {
      const options = [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--save',
        '',
        '--appendonly',
        'no',
        '--dir',
        tmpdir(),
      ];
      const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] });
      // Registers the process for the cleanup of the test run, in case this suite never stops the process.
      const note = path.join(process.env['POSTHORN_TEST_DIR'] ?? '', 'servers', String(child.pid));
      writeFileSync(note, '');
      child.once('exit', () => rmSync(note, { force: true }));
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      await until(
        async () => output,
        (text) => text.includes('Ready to accept connections'),
      );
      return child;
    }

    async function stopRedis(): Promise<void> {
      const gone = once(redis, 'exit');
      redis.kill('SIGKILL');
      await gone;
    }

    /**
     * Returns whether Redis counted the requests. If Redis answers too late, a node allows the request and shows the
     * full quota.
     */
    const wereCounted = (answers: ApiAnswer[]): boolean => answers.every((answer) => remainingOf(answer) < 10);

    it('two nodes share the quotas, for consecutive requests', async () => {
      const answers = await until(async () => {
        const [mine, all] = [await fresh(nodes[0]), [] as ApiAnswer[]];
        for (let i = 0; i < 7; i++) all.push(await ask(nodes[0], mine), await ask(nodes[1], mine));
        return all;
      }, wereCounted);

      expect(answers.map(({ status }) => status)).toEqual([...Array<number>(10).fill(200), 429, 429, 429, 429]);
      expect(answers.slice(0, 10).map(remainingOf)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
      for (const answer of answers.slice(10)) expectTooMany(answer);
    });

    it('two nodes share the quotas, for concurrent requests: ten of 60 are allowed', async () => {
      const answers = await until(async () => {
        const mine = await fresh(nodes[1]);
        return Promise.all(Array.from({ length: 60 }, (_, i) => ask(nodes[i % 2 ? 1 : 0], mine)));
      }, wereCounted);

      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(50);
    });

    it('without Redis both nodes allow every request, and count again once it is back', async () => {
      const mine = await fresh(nodes[0]);
      await stopRedis();

      const open = (await Promise.all(nodes.map((node) => askTimes(12, node, mine)))).flat();

      redis = await startRedis();
      expect(new Set(open.map(({ status }) => status))).toEqual(new Set([200]));
      for (const { headers } of open) expectRateLimitHeaders(headers);
      for (const node of nodes)
        await until(
          () => ask(node, mine),
          ({ status }) => status === 429,
          20_000,
        );
    });
  });
});
