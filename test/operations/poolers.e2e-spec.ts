import { PlannedPool } from '../../src/kernel/database/planned-pool.js';
import { applicationOf, emit, endpointAt } from '../api/applications.js';
import { until } from '../api/polling.js';
import type { Targets } from '../api/scene.js';
import { eventIn, sendMany, startTargets, WITHIN_MS } from '../api/scene.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { isPgBouncerInstalled, PgBouncer } from '../support/pgbouncer.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

const describeWithPgBouncer = isPgBouncerInstalled() ? describe : describe.skip;

describeWithPgBouncer('behind PgBouncer', () => {
  let database: TestDatabase;
  let bouncer: PgBouncer;

  async function leave(): Promise<void> {
    await bouncer.stop();
    await database.drop();
  }

  describe.each(['session', 'transaction'])('in %s mode, with DATABASE_DIRECT_URL', (mode) => {
    let targets: Targets;
    let a: PosthornServer;
    let b: PosthornServer;

    beforeAll(async () => {
      targets = await startTargets();
      database = await createDatabase();
      bouncer = await PgBouncer.start(database.url, {
        pool_mode: mode,
        default_pool_size: mode === 'session' ? '60' : '8',
      });
      a = await startServer({ DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: database.url, ROLE: 'api' });
      b = await startServer({ ...a.env, ROLE: 'all', RECONCILE: 'false' });
    });

    afterAll(async () => {
      await Promise.all([a.stop(), b.stop()]);
      await leave();
      await targets.close();
    });

    it('messages are accepted, queued, delivered and recorded, and a change at one process reaches the other', async () => {
      const target = targets.open();
      const application = await applicationOf(a);
      await endpointAt(a, application, target.url);
      const first = await emit(b, application);

      await endpointAt(a, application, targets.open().url);
      const all = await until(
        () => emit(b, application),
        ({ fanout }) => fanout === 2,
        WITHIN_MS,
      );
      // Sends fewer messages than the target's concurrency limit. Further messages would wait for the periodic sweep,
      // which is turned off.
      const sent = await sendMany(a, target.url, 12);

      expect([first.fanout, all.fanout]).toEqual([1, 2]);
      // The periodic sweep is turned off, so only the queue can notify the delivering process.
      for (const messageId of sent) await eventIn(a, messageId, 'delivered');
      expect(new Set(target.posts().map(({ headers }) => headers['webhook-id'])).size).toBe(target.posts().length);
    });

    it('every process receives its own heartbeat', async () => {
      const deaf = async (server: PosthornServer): Promise<unknown> =>
        (await server.api('GET', '/health/ready')).json.parts?.notifications;

      for (const server of [a, b]) {
        expect(
          await until(
            () => deaf(server),
            (part) => (part as { deaf?: boolean } | undefined)?.deaf === false,
            WITHIN_MS,
          ),
        ).toEqual({ ready: true, deaf: false });
      }
    });

    it('hot statements have the same plans as without the pooler, and leave no session state behind', async () => {
      const planned = new PlannedPool(bouncer.url, 'test', 1, true);
      const ask = {
        text: `select current_setting('plan_cache_mode') as plans, current_setting('enable_seqscan') as scans, $1::int as given`,
        values: [1],
      };

      const inside = await planned.query(ask);
      const after = await planned.pool.query(ask);
      const refused = await planned.query({ text: 'select 1 / $1::int', values: [0] }).catch((error: unknown) => error);
      const again = await planned.query(ask);
      await planned.pool.end();

      expect(inside.rows).toEqual([{ plans: 'force_generic_plan', scans: 'off', given: 1 }]);
      expect(after.rows).toEqual([{ plans: 'auto', scans: 'on', given: 1 }]);
      expect(refused).toMatchObject({ code: '22012' });
      expect(again.rows).toEqual(inside.rows);
    });
  });

  describe('a start that cannot work', () => {
    beforeEach(async () => {
      database = await createDatabase();
    });

    afterEach(leave);

    it.each<[string, Record<string, string>, RegExp]>([
      [
        'with the settings of its package',
        {},
        /DATABASE_URL leads to a pooler that refuses the settings of connections/,
      ],
      [
        'with start-up options ignored',
        { ignore_startup_parameters: 'options' },
        /DATABASE_URL leads to a pooler that drops the settings of connections/,
      ],
      [
        'in transaction mode with them ignored',
        { ignore_startup_parameters: 'options', pool_mode: 'transaction' },
        /DATABASE_URL leads to a pooler/,
      ],
    ])(
      'without DATABASE_DIRECT_URL the start ends with one line that says how to fix it: %s',
      async (_how, settings, line) => {
        bouncer = await PgBouncer.start(database.url, settings);

        const ended = (await startServer({ DATABASE_URL: bouncer.url }).then(
          () => null,
          (error: unknown) => error,
        )) as Error;
        const lines = ended.message.trim().split('\n');

        expect(lines).toHaveLength(2);
        expect(lines[0]).toContain('ended with code 1');
        expect(lines[1]).toMatch(line);
        expect(lines[1]).toContain('Set DATABASE_DIRECT_URL');
      },
    );

    it('a DATABASE_DIRECT_URL to another database also ends the start', async () => {
      bouncer = await PgBouncer.start(database.url, { pool_mode: 'transaction' });
      const other = await createDatabase();

      const ended = (await startServer({ DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: other.url }).then(
        () => null,
        (error: unknown) => error,
      )) as Error;
      await other.drop();

      expect(ended.message.trim().split('\n')).toHaveLength(2);
      expect(ended.message).toContain('both must lead to the same database');
    });
  });
});
