import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { isRunning } from '../../src/bootstrap/embedded/processes.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { run } from '../support/program.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { broken, type Disruption, summary } from './checker.js';
import { eventually, type KeptProcess } from './processes.js';
import { runSeed, Seeded } from './random.js';
import { Scene } from './scene.js';
import { query } from './storage.js';

const PROCESSES = 2;
const KILLS = 4;
const MESSAGES_BETWEEN_MAX = 400;
const CONCURRENCY = 12;
const PAUSE_MS = 20;
const CLIENTS = 12;
const BACK_MS_MAX = 120_000;
const ANSWER_MS_MAX = 10_000;

/** Returns the child processes of a process, without PostgreSQL servers. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => {
      try {
        const parent = Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${each}/stat`, 'latin1'))?.[1]);
        return (
          parent === pid &&
          path.basename(readFileSync(`/proc/${each}/cmdline`, 'latin1').split('\0')[0] ?? '') === 'node'
        );
      } catch {
        return false;
      }
    });
}

/** Makes one request with the agent. Returns its status, its body, and whether the connection was closed. */
function ask(
  agent: Agent,
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; ends: boolean; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response
        .once('error', reject)
        .once('end', () =>
          resolve({ status: response.statusCode ?? 0, ends: response.headers.connection === 'close', text }),
        );
    });
    // A request to a process that is killed may never be answered (ADR 26), so the client needs a timeout.
    asked.setTimeout(ANSWER_MS_MAX, () => asked.destroy(new Error('No answer.')));
    asked.once('error', reject).end();
  });
}

/** Returns the number of the process that accepts a new connection, or null if no process does. */
async function numberAt(url: string): Promise<number | null> {
  const { text } = await ask(new Agent(), `${url}/health/ready`).catch(() => ({ text: '{}' }));
  return (JSON.parse(text) as { parts?: { process: { number: number } } }).parts?.process.number ?? null;
}

async function numbersAt(url: string): Promise<(number | null)[]> {
  const numbers = [];
  for (let asked = 0; asked < PROCESSES * 2; asked += 1) numbers.push(await numberAt(url));
  return [...new Set(numbers)].sort();
}

const ALL = Array.from({ length: PROCESSES }, (_, i) => i + 1);

describe(`PROCESSES=${PROCESSES} under load`, () => {
  const seed = runSeed();
  let database: TestDatabase;
  let scene: Scene;
  let fleet: KeptProcess;

  beforeAll(async () => {
    database = await createDatabase();
    scene = await Scene.open({
      seed,
      databaseUrl: database.url,
      processes: { fleet: { PROCESSES: String(PROCESSES) } },
    });
    fleet = scene.member('fleet');
  }, 180_000);

  afterAll(async () => {
    await scene?.close();
    await database?.drop();
  });

  const isComplete = (): Promise<boolean> =>
    eventually(async () => (await numbersAt(fleet.url)).join() === ALL.join(), BACK_MS_MAX);

  it('each is a worker of its own behind the one port, and a scrape of the port returns the metrics of all of them', async () => {
    const numbers = await numbersAt(fleet.url);

    const workers = await query<{ pid: number }>(database.url, 'select pid from workers where alive_until > now()');
    const { text } = await ask(new Agent(), `${fleet.url}/metrics`);
    expect(numbers).toEqual(ALL);
    expect(workers.map(({ pid }) => pid).sort()).toEqual(childrenOf(fleet.pid).sort());
    expect(
      [...text.matchAll(/^posthorn_events_accepted_total\{process="(\d)"\} \d+$/gm)].map(([, number]) =>
        Number(number),
      ),
    ).toEqual(ALL);
  }, 180_000);

  it('kills of a child and of the parent, and SIGTERM: all are restarted, the port refuses no connection while one lives, and no accepted message is lost', async () => {
    const random = new Seeded(seed);
    const load = scene.load(['fleet'], CONCURRENCY, { pauseMs: PAUSE_MS });
    const disruptions: Disruption[] = [];
    const failures: string[] = [];
    const sendMore = (): Promise<unknown> =>
      Promise.race([load.reached(load.accepted + random.between(50, MESSAGES_BETWEEN_MAX)), load.ended()]);
    const strike = (kind: string, cutsAttempts: boolean): void =>
      void disruptions.push({ kind, atMs: Date.now(), cutsAttempts });
    const expectGone = async (pids: readonly number[], what: string): Promise<void> => {
      if (!(await eventually(() => !pids.some(isRunning), BACK_MS_MAX))) failures.push(`${what} goes on`);
    };
    const parent = fleet.pid;
    load.start();

    for (let kill = 0; kill < KILLS; kill += 1) {
      await sendMore();
      const killed = random.pick(childrenOf(parent));
      strike('SIGKILL of one', true);
      process.kill(killed, 'SIGKILL');
      await expectGone([killed], 'a killed process');
      if (!(await isComplete())) failures.push('one does not come back');
    }
    await sendMore();
    const refused = load.outcomes['ECONNREFUSED'];
    const isSameParent = fleet.pid === parent;

    const orphans = childrenOf(parent);
    strike('SIGKILL of the parent', false);
    fleet.kill();
    await expectGone(orphans, 'an orphan');
    await fleet.up();
    await sendMore();

    const members = childrenOf(fleet.pid);
    strike('SIGTERM', false);
    const end = await fleet.terminate();
    await expectGone(members, 'a stopped process');
    await fleet.start();
    await sendMore();
    await load.stop();
    const isSettled = await scene.settled();

    const report = await scene.report(load, disruptions);
    process.stdout.write(`durability: ${summary(seed, report)} · tries ${JSON.stringify(load.outcomes)}\n`);
    if (broken(report).length > 0) process.stdout.write(await scene.failureReport(report));
    expect(failures).toEqual([]);
    expect({ refused, isSameParent, end }).toEqual({ refused: undefined, isSameParent: true, end: 0 });
    expect([orphans.length, members.length]).toEqual([PROCESSES, PROCESSES]);
    expect(load.refusals).toEqual([]);
    expect(broken(report)).toEqual([]);
    expect(isSettled).toBe(true);
  }, 300_000);
});

describe(`PROCESSES=${PROCESSES}`, () => {
  const servers: PosthornServer[] = [];

  afterEach(async () => {
    for (const server of servers.splice(0)) await server.kill('SIGKILL');
  });

  const start = async (env: Record<string, string>): Promise<PosthornServer> => {
    const server = await startServer({ PROCESSES: String(PROCESSES), ...env });
    servers.push(server);
    return server;
  };

  it(`resets none of ${CLIENTS} keep-alive clients that continue to send requests during SIGTERM`, async () => {
    const server = await start({ SHUTDOWN_GRACE: '2s' });

    const ends = await Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        try {
          for (let asked = 0; ; asked += 1) {
            const { status, ends } = await ask(agent, `${server.url}/v1/org`, {
              authorization: `Bearer ${server.apiKey}`,
            });
            if (status !== 200) return `was answered ${status}`;
            if (ends) return 'told';
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
    expect(server.logs().match(/listening on/g)).toHaveLength(1);
  }, 180_000);

  it('a second signal exits immediately, with code 1, and all processes end', async () => {
    const server = await start({ SHUTDOWN_GRACE: '5m' });
    const members = childrenOf(server.pid);

    const sendAgain = setInterval(() => void server.kill('SIGTERM'), 200);
    const areGone = await eventually(() => ![server.pid, ...members].some(isRunning), BACK_MS_MAX);
    clearInterval(sendAgain);

    expect(members).toHaveLength(PROCESSES);
    expect(areGone).toBe(true);
    expect(server.logs()).toContain('Leaving at once on a second SIGTERM');
  }, 180_000);

  it.each([
    [
      'an extension that does not exist',
      {
        DATABASE_URL: 'postgres://nobody:hunter2hunter2@127.0.0.1:1/x',
        MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
        EXTENSIONS: './nowhere',
      },
      /EXTENSIONS names \.\/nowhere/,
    ],
    [
      'no number',
      { PROCESSES: '0' },
      /^Posthorn did not start: PROCESSES must be `auto` or a whole number from 1 to 64, not "0"\.\n$/,
    ],
  ])(
    'exits with one line and code 1 at its first start: %s',
    async (_, env, line) => {
      const ended = await run(
        'main',
        { PROCESSES: String(PROCESSES), PORT: '0', SMTP_PORT: 'off', LOG_LEVEL: 'error', ...env },
        [],
        'files',
      );

      expect(ended).toMatchObject({ code: 1, out: '' });
      expect(ended.err).toMatch(line);
      expect(ended.err.match(/\n/g)).toHaveLength(1);
    },
    180_000,
  );

  it('has one embedded PostgreSQL, which the next start takes over if all processes were killed, and which ends with the parent', async () => {
    const directory = mkdtempSync(path.join(process.env['POSTHORN_TEST_DIR'] ?? tmpdir(), 'shared-port-'));
    const env = { DATABASE_URL: '', DATA_DIR: directory, SMTP_PORT: 'off', LOG_LEVEL: 'info' };
    const postgresPid = (server: PosthornServer, told: RegExp): number =>
      Number(new RegExp(`"pid":(\\d+).*${told.source}`).exec(server.logs())?.[1]);
    const first = await start(env);
    const members = childrenOf(first.pid);

    await first.kill('SIGKILL');
    const areGone = await eventually(() => !members.some(isRunning), BACK_MS_MAX);
    const second = await start(first.env);
    const { status } = await second.api('GET', '/v1/org');
    await second.stop();

    const pid = postgresPid(second, /Adopted the PostgreSQL/);
    expect(members).toHaveLength(PROCESSES);
    expect(areGone).toBe(true);
    expect(status).toBe(200);
    expect(pid).toBe(postgresPid(first, /PostgreSQL started/));
    expect(isRunning(pid)).toBe(false);
    rmSync(directory, { recursive: true });
  }, 240_000);
});
