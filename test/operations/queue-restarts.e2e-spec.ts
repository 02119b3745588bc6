import { until } from '../api/polling.js';
import { eventIn, startTargets, type Targets, WITHIN_MS } from '../api/scene.js';
import { terminateAll } from '../durability/storage.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type PosthornServer, startServer } from '../support/server.js';

const ROUNDS = 30;
/**
 * Time limit for recovery. BullMQ misses the notifications of new jobs if its connection is closed while it subscribes,
 * and then asks for jobs again after 60 s. A job whose worker lost its connection is free again after another 60 s.
 */
const RECOVERED_WITHIN_MS = 210_000;

/** The queues only save time: durability/restarts checks that no message is lost if they do not recover. */
describe('PostgreSQL terminates every connection of the queues', () => {
  let targets: Targets;
  let database: TestDatabase;
  let api: PosthornServer;
  let worker: PosthornServer;

  beforeAll(async () => {
    [targets, database] = await Promise.all([startTargets(), createDatabase()]);
    api = await startServer({ DATABASE_URL: database.url, ROLE: 'api' });
    worker = await startServer({ ...api.env, ROLE: 'worker', RECONCILE: 'false' });
  });

  afterAll(async () => {
    await Promise.all([api?.stop(), worker?.stop()]);
    await Promise.all([database?.drop(), targets?.close()]);
  });

  it('without the sweep, the queues alone start deliveries again', async () => {
    const target = targets.open();
    const accepted = async (): Promise<string> => {
      const body = { destination: target.url, event_type: 'restart', payload: {} };
      const answer = await until(
        () => api.api('POST', '/v1/send', body),
        ({ status }) => status === 202,
        WITHIN_MS,
      );
      return answer.json.message_id as string;
    };
    await eventIn(api, await accepted(), 'delivered');

    for (let round = 0; round < ROUNDS; round += 1) await terminateAll(database.url);

    await until(
      async () =>
        eventIn(api, await accepted(), 'delivered', 3_000).then(
          () => true,
          () => false,
        ),
      (isDelivered) => isDelivered,
      RECOVERED_WITHIN_MS,
    );
    for (const { pid } of [api, worker]) expect(process.kill(pid, 0)).toBe(true);
  }, 300_000);
});
