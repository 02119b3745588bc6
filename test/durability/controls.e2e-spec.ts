import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { broken } from './checker.js';
import type { Load } from './load.js';
import { eventually } from './processes.js';
import { CONTROL_SEED } from './random.js';
import { Scene } from './scene.js';
import { emptyQueueTables } from './storage.js';

const MESSAGES = 40;
const ARRIVE_MS_MAX = 60_000;

/**
 * Each test runs a service or a receiver that breaks a guarantee on purpose, and expects that the checker finds the
 * fault.
 */
describe('negative controls', () => {
  const seed = CONTROL_SEED;
  let database: TestDatabase;
  let scene: Scene;

  beforeEach(async () => {
    database = await createDatabase();
    const processes = {
      api: { ROLE: 'api' },
      forgetful: { ROLE: 'worker', RECONCILE: 'false' },
      worker: { ROLE: 'worker' },
    };
    scene = await Scene.open({ seed, databaseUrl: database.url, processes, isCalm: true }, ['api']);
  });

  afterEach(async () => {
    await scene?.close();
    await database?.drop();
  });

  it('without the sweep of PostgreSQL the emptied queue is detected as lost messages, and with it they arrive', async () => {
    const load = scene.load(['api'], 1);
    await sendMany(load, MESSAGES);
    await emptyQueueTables(database.url);
    const forgetful = scene.member('forgetful');
    await forgetful.start();
    // Waits until the process has its lease. Without a lease, it would leave the message to the periodic sweep, which
    // is turned off here.
    await eventually(() => fetch(`${forgetful.url}/health/ready`).then(({ status }) => status === 200), ARRIVE_MS_MAX);

    // The queue keeps the order, so earlier messages that were not lost would arrive before this one.
    await sendMany(load, 1);
    await arrived(1);
    const without = await scene.report(load);
    await scene.member('worker').start();
    await arrived(MESSAGES + 1);
    const withSweep = await scene.report(load);

    expect(without.lost).toHaveLength(MESSAGES);
    expect(broken(without)).toEqual([`${MESSAGES} messages were answered 202 and never delivered`]);
    expect(broken(withSweep)).toEqual([]);
  }, 180_000);

  it('a changed body, a bad signature, a message that was never sent, and two messages for one key are detected', async () => {
    const load = scene.load(['api'], 1);
    await sendMany(load, 3);
    await scene.member('worker').start();
    await arrived(3);
    const [first = '', second = ''] = load.sent.flatMap(({ ids }) => ids);

    await deliver(first, '{"n":0,"big":12345678901234567000}', scene.receiver.secrets[0]);
    await deliver(second, '{"n":1}', scene.receiver.secrets[1]);
    await deliver(`msg_${randomUUID()}`, '{"n":9}', scene.receiver.secrets[0]);
    const report = await scene.report(load);

    expect(report).toMatchObject({ lost: [], altered: [first, second], unsigned: [second] });
    expect(report.unexpected).toHaveLength(1);
    expect(report.unexplained.sort()).toEqual([first, second].sort());
    expect(report.forkedKeys).toEqual([]);

    const [one, another] = load.sent;
    one?.ids.push(...(another?.ids ?? []));
    expect((await scene.report(load)).forkedKeys).toEqual([one?.key]);
  });

  /** Delivers a message instead of the service, signed with the secret of destination 0 or with the given secret. */
  async function deliver(id: string, body: string, secret = ''): Promise<void> {
    const at = new Date();
    const signature = new Webhook(secret).sign(id, at, body);
    const timestamp = String(Math.floor(at.getTime() / 1000));
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    await fetch(scene.receiver.url(0), { method: 'POST', headers, body });
  }

  async function arrived(count: number): Promise<void> {
    const isThere = await eventually(async () => (await scene.receiver.progress()).delivered >= count, ARRIVE_MS_MAX);
    if (!isThere) throw new Error(`Only ${(await scene.receiver.progress()).delivered} of ${count} messages arrived.`);
  }
});

async function sendMany(load: Load, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await load.send();
  expect(load.refusals).toEqual([]);
}
