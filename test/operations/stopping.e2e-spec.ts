import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { Agent, request } from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { Pool } from 'undici';
import { until } from '../api/polling.js';
import type { Targets } from '../api/scene.js';
import { destinationAt, startTargets, WITHIN_MS } from '../api/scene.js';
import { ForgetfulRedis } from '../durability/redis.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { isRedisInstalled } from '../support/optional-tools.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { openBalancer } from './balancer.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const CLIENTS = 12;

/** Makes one request with the agent. Returns its status and whether the connection was closed. */
function ask(
  agent: Agent,
  url: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<{ status: number; ends: boolean }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      {
        agent,
        method: body === '' ? 'GET' : 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        response
          .resume()
          .once('end', () =>
            resolve({ status: response.statusCode ?? 0, ends: response.headers.connection === 'close' }),
          );
      },
    );
    asked.once('error', reject);
    asked.end(body);
  });
}

describe('stopping', () => {
  let database: TestDatabase;
  let targets: Targets;
  let servers: PosthornServer[] = [];

  const start = async (env: Record<string, string> = {}): Promise<PosthornServer> => {
    const server = await startServer({ DATABASE_URL: database.url, SHUTDOWN_GRACE: '2s', ...env });
    servers.push(server);
    return server;
  };

  beforeEach(async () => {
    [database, targets] = await Promise.all([createDatabase(), startTargets()]);
  });

  afterEach(async () => {
    for (const server of servers) await server.kill('SIGKILL');
    servers = [];
    await targets.close();
    await database.drop();
  });

  const readiness = (server: PosthornServer): Promise<number | null> =>
    fetch(`${server.url}/health/ready`, { headers: { connection: 'close' } }).then(
      ({ status }) => status,
      () => null,
    );

  const isStopping = (server: PosthornServer): Promise<unknown> =>
    until(
      () => readiness(server),
      (status) => status === 503,
      WITHIN_MS,
    );

  it('after SIGTERM accepts and delivers for SHUTDOWN_GRACE, and every answer closes its connection', async () => {
    const target = targets.open();
    const held: (() => void)[] = [];
    const slow = targets.open(() => new Promise((resolve) => held.push(() => resolve({ status: 200 }))));
    const server = await start({ SHUTDOWN_GRACE: '3s' });
    const [destination, tested] = [await destinationAt(server, target.url), await destinationAt(server, slow.url)];
    const { slug } = (await server.api('GET', '/v1/org')).json;
    expect((await server.api('POST', '/v1/endpoints', { slug: 'all', destinations: [destination] })).status).toBe(201);
    const key = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' };
    const agents = Array.from({ length: 5 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    for (const agent of agents)
      expect(await ask(agent, `${server.url}/health/live`)).toEqual({ status: 200, ends: false });
    const before = ask(agents[4] as Agent, `${server.url}/v1/destinations/${tested}/test`, key, '{}');
    await slow.arrived(1);

    await server.kill('SIGTERM');
    await isStopping(server);
    held.forEach((answer) => answer());
    const answers = await Promise.all([
      ask(
        agents[0] as Agent,
        `${server.url}/v1/send`,
        key,
        JSON.stringify({ destination, event_type: 'a', payload: {} }),
      ),
      ask(agents[1] as Agent, `${server.url}/in/${slug}/all`, { 'content-type': 'application/json' }, '{}'),
      ask(agents[2] as Agent, `${server.url}/nowhere`),
      ask(agents[3] as Agent, `${server.url}/health/live`),
      before,
    ]);
    const arrived = await target.arrived(2);
    const statusThen = await readiness(server);

    expect(answers).toEqual([202, 200, 404, 200, 200].map((status) => ({ status, ends: true })));
    expect(arrived).toHaveLength(2);
    expect(statusThen).toBe(503);
    await server.stop();
    for (const agent of agents) agent.destroy();
  });

  it(`resets none of ${CLIENTS} keep-alive clients that continue to send requests`, async () => {
    const server = await start();
    const ends = await Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        try {
          for (let asked = 0; ; asked += 1) {
            if ((await ask(agent, `${server.url}/v1/org`, { authorization: `Bearer ${server.apiKey}` })).ends)
              return 'told';
            if (client === 0 && asked === 20) await server.kill('SIGTERM');
            await rest(client);
          }
        } catch (error) {
          return String(error);
        } finally {
          agent.destroy();
        }
      }),
    );

    expect(ends).toEqual(Array.from({ length: CLIENTS }, () => 'told'));
    await server.stop();
  });

  it('a rolling restart behind a load balancer refuses no request', async () => {
    const target = targets.open();
    const first = await start();
    const nodes = [first, await start(first.env)];
    const ports = nodes.map(({ url }) => new URL(url).port);
    const urls = ports.map((port) => `http://127.0.0.1:${port}`);
    const destination = await destinationAt(first, target.url);
    const balancer = await openBalancer(urls);
    const client = new Pool(balancer.url, { connections: CLIENTS });
    const headers = { authorization: `Bearer ${first.apiKey}`, 'content-type': 'application/json' };
    const answers: Record<number, number> = {};
    let rolling = true;
    const senders = Array.from({ length: CLIENTS }, async () => {
      while (rolling) {
        const body = JSON.stringify({ destination, event_type: 'a', payload: {} });
        const { statusCode, body: answer } = await client.request({ method: 'POST', path: '/v1/send', headers, body });
        await answer.dump();
        answers[statusCode] = (answers[statusCode] ?? 0) + 1;
        // Pauses to leave CPU time for the node that is starting.
        await rest(50);
      }
    });

    try {
      for (const [i, node] of nodes.entries()) {
        await node.stop();
        nodes[i] = await start({ ...first.env, PORT: ports[i] as string });
        await until(
          async () => balancer.isIn(urls[i] as string),
          (isIn) => isIn,
          WITHIN_MS,
        );
      }
    } finally {
      rolling = false;
      await Promise.all(senders);
      await client.close();
      await balancer.close();
    }

    expect(balancer.refused).toEqual([]);
    expect(Object.keys(answers)).toEqual(['202']);
  });

  it('a connection that was opened and never used does not delay the exit', async () => {
    const server = await start({ SHUTDOWN_GRACE: '0s' });
    const { hostname, port } = new URL(server.url);
    const unused = net.connect(Number(port), hostname).on('error', () => undefined);
    await once(unused, 'connect');

    await server.stop();

    unused.destroy();
  });

  (isRedisInstalled() ? it : it.skip)('ends with code 0 while the Redis of its queues is away', async () => {
    const redis = await ForgetfulRedis.start();
    const server = await start({ REDIS_URL: redis.url, SHUTDOWN_GRACE: '0s' });

    await redis.stop();

    await expect(server.stop()).resolves.toBeUndefined();
  });

  it('a second signal exits immediately, with code 1', async () => {
    const server = await start({ SHUTDOWN_GRACE: '5m' });
    await server.kill('SIGTERM');
    await isStopping(server);

    // Under npm, Ctrl-C sends the signal twice: from the terminal and from npm. Therefore an immediate second signal
    // counts as part of the first.
    await server.kill('SIGTERM');
    const still = await readiness(server);
    const sendAgain = setInterval(() => void server.kill('SIGTERM'), 200);
    await until(
      () => readiness(server),
      (status) => status === null,
      WITHIN_MS,
    );
    clearInterval(sendAgain);

    expect(still).toBe(503);
    expect(server.logs()).toContain('Leaving at once on a second SIGTERM');
  });

  describe('npm start', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'posthorn-npm-'));
    let npm: ChildProcess | undefined;

    afterAll(() => {
      try {
        if (npm?.pid) process.kill(-npm.pid, 'SIGKILL');
      } catch {
        // Ignores the error, which means that all processes of the group have ended.
      }
      rmSync(directory, { recursive: true, force: true });
    });

    it('that is killed also ends the service, which drains first', async () => {
      const clone = [
        'node_modules',
        'package.json',
        'tools',
        'src',
        'migrations',
        'dist',
        'tsconfig.json',
        'tsconfig.build.json',
        'nest-cli.json',
      ];
      for (const name of clone) symlinkSync(path.join(ROOT, name), path.join(directory, name));
      const other = await start();
      let output = '';
      npm = spawn('npm', ['start'], {
        cwd: directory,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env['PATH'] ?? '', HOME: directory, ...other.env, LOG_LEVEL: 'info' },
      });
      for (const stream of [npm.stdout, npm.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
      // The output ends when the last process that could write to it has ended.
      const ended = once(npm, 'close');
      await until(
        async () => output,
        (text) => text.includes('listening on'),
        60_000,
      );

      npm.kill('SIGTERM');
      const [code] = (await ended) as [number | null];

      expect(output).toContain('Stopping on SIGTERM.');
      expect(code).toBe(0);
    });
  });
});
