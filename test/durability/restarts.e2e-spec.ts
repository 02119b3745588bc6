import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EmbeddedPostgres } from '../../src/bootstrap/embedded.js';
import { startEmbeddedPostgres } from '../../src/bootstrap/embedded.js';
import { until } from '../api/polling.js';
import type { Targets } from '../api/scene.js';
import { eventIn, startTargets, WITHIN_MS } from '../api/scene.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { noteForReaper } from './processes.js';
import { Seeded } from './random.js';
import { terminateAll } from './storage.js';

const ROUNDS = 30;
const STARTS = 6;
/** Number of times that connections are terminated during the start of the service. */
const BLOWS = 60;
/** Time limit for recovery. If the response to a claim was lost, the claim is released when its worker id expires. */
const MADE_GOOD_WITHIN_MS = 90_000;
const isAlive = (server: PosthornServer): boolean => {
  try {
    return process.kill(server.pid, 0);
  } catch {
    return false;
  }
};

describe('PostgreSQL closes every connection', () => {
  let targets: Targets;

  beforeAll(async () => {
    targets = await startTargets();
  });

  afterAll(() => targets.close());

  describe('by terminating them', () => {
    let database: TestDatabase;
    let api: PosthornServer;
    let worker: PosthornServer;

    beforeEach(async () => {
      database = await createDatabase();
      api = await startServer({ DATABASE_URL: database.url, ROLE: 'api' });
    });

    afterEach(async () => {
      await Promise.all([api.stop(), worker.stop()]);
      await database.drop();
    });

    const accepted = async (url: string): Promise<string> => {
      const body = { destination: url, event_type: 'restart', payload: {} };
      return (
        await until(
          () => api.api('POST', '/v1/send', body),
          ({ status }) => status === 202,
          WITHIN_MS,
        )
      ).json.message_id as string;
    };

    /** Waits until an event is delivered. Retries after a 503, which can follow a cut of the connections. */
    const delivered = async (messageId: string, withinMs: number): Promise<void> => {
      await until(
        () => api.api('GET', `/v1/events/${messageId}`),
        ({ status, json }) => status === 200 && json.status === 'delivered',
        withinMs,
      );
    };

    it(`no process exits in ${ROUNDS} rounds under load, and every accepted message is delivered`, async () => {
      worker = await startServer({ ...api.env, ROLE: 'worker' });
      const target = targets.open();
      const random = new Seeded(4);
      const sent: string[] = [];

      for (let round = 0; round < ROUNDS; round += 1) {
        const sending = Promise.all([accepted(target.url), accepted(target.url), accepted(target.url)]);
        for (let i = Math.floor(random.next() * 4); i >= 0; i -= 1) await terminateAll(database.url);
        sent.push(...(await sending));
      }

      expect([isAlive(api), isAlive(worker)]).toEqual([true, true]);
      for (const messageId of sent) await delivered(messageId, MADE_GOOD_WITHIN_MS);
    }, 240_000);
  });

  describe('while processes start, and by a fast shutdown', () => {
    let postgres: EmbeddedPostgres;
    let retract = (): void => undefined;
    let env: Readonly<Record<string, string>>;

    beforeAll(async () => {
      const directory = mkdtempSync(path.join(process.env['POSTHORN_TEST_DIR'] ?? tmpdir(), 'restarts-'));
      const log = (_line: string, fields?: Readonly<Record<string, unknown>>): void => {
        retract();
        retract = noteForReaper(Number(fields?.['pid']) || undefined);
      };
      postgres = await startEmbeddedPostgres({ dataDir: path.join(directory, 'data'), log });
      env = { DATABASE_URL: postgres.url };
    });

    const start = async (): Promise<PosthornServer> => {
      const server = await startServer(env);
      env = server.env;
      return server;
    };

    afterAll(async () => {
      await postgres.stop();
      retract();
    });

    it('a starting process waits and continues, at any step of its start', async () => {
      const random = new Seeded(5);
      const first = await start();
      await until(
        () => fetch(`${first.url}/health/ready`),
        ({ status }) => status === 200,
        WITHIN_MS,
      );
      await first.stop();
      for (let starts = 0; starts < STARTS; starts += 1) {
        const starting = start();
        for (let blow = 0; blow < BLOWS; blow += 1) {
          await terminateAll(postgres.url);
          await new Promise((resolve) => setTimeout(resolve, random.next() * 40));
        }
        const server = await starting;
        await until(
          () => fetch(`${server.url}/health/ready`),
          ({ status }) => status === 200,
          WITHIN_MS,
        );
        await server.stop();
      }
    });

    it('a running process continues when the server is back, and a process that starts meanwhile waits for it', async () => {
      const target = targets.open();
      const server = await start();
      try {
        process.kill(postgres.pid(), 'SIGINT');
        const second = await start();
        const body = { destination: target.url, event_type: 'restart', payload: {} };
        const answer = await until(
          () => server.api('POST', '/v1/send', body),
          ({ status }) => status === 202,
          WITHIN_MS,
        );

        await eventIn(server, answer.json.message_id, 'delivered', MADE_GOOD_WITHIN_MS);
        await second.stop();
      } finally {
        await server.stop();
      }
    }, 150_000);
  });
});
