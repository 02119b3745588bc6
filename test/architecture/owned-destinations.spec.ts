import type { DataSource } from 'typeorm';
import { dataSource } from '../../src/bootstrap/data-source.js';
import type { Clock } from '../../src/kernel/clock.js';
import type { Config } from '../../src/kernel/config/config.js';
import type { Vault } from '../../src/kernel/crypto/vault.js';
import { Database } from '../../src/kernel/database/database.js';
import type { Notifications } from '../../src/kernel/database/notifications.js';
import { DestinationsStore } from '../../src/modules/destinations/destinations.store.js';
import type { SystemEvents } from '../../src/modules/system-events/contract.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

const ENVIRONMENT = 4711;
const OWNERS = 200;
const OWNED_EACH = 100;
const LISTED = 60;
const uuid = (kind: number, n: number): string => `0190f0a0-000${kind}-0000-0000-${String(n).padStart(12, '0')}`;

/**
 * Tests that the list of destinations stays fast although twenty thousand newer destinations belong to endpoints of
 * applications.
 */
describe('destinations with owners', () => {
  let testDatabase: TestDatabase;
  let source: DataSource;
  let database: Database;
  let store: DestinationsStore;
  const announced: string[] = [];

  beforeAll(async () => {
    testDatabase = await createDatabase('migrated');
    source = await dataSource(testDatabase.url, 1).initialize();
    database = new Database(source, { databaseUrl: testDatabase.url } as Config);
    const notifications = {
      announce: async (topic: string, key: string) => void announced.push(`${topic} ${key}`),
    } as unknown as Notifications;
    store = new DestinationsStore(
      database,
      notifications,
      { now: () => new Date(0) } as Clock,
      {} as SystemEvents,
      {} as Vault,
    );
    // Drops the foreign key, because no environments are stored in this test.
    await source.query('alter table destinations drop constraint destinations_environment_id_fkey');
    await source.query(`
      insert into destinations (environment_id, id, owner_id, name, type, config, headers, timeout_ms, validation, status, version, secret, created_at, updated_at)
      select ${ENVIRONMENT}, ('0190f0a0-0002-0000-0000-' || lpad(n::text, 12, '0'))::uuid,
             ('0190f0a0-0003-0000-0000-' || lpad((n / ${OWNED_EACH})::text, 12, '0'))::uuid,
             'Owned', 'https', '{}'::jsonb, '{}'::jsonb, 1000, 'pending', 'active', 1, ''::bytea, now(), now() from generate_series(0, ${OWNERS * OWNED_EACH - 1}) n
      union all
      select ${ENVIRONMENT}, ('0190f0a0-0001-0000-0000-' || lpad(n::text, 12, '0'))::uuid, null,
             'Listed', 'https', '{}'::jsonb, '{}'::jsonb, 1000, 'valid', 'active', 1, ''::bytea, now(), now() from generate_series(0, ${LISTED - 1}) n`);
    await source.query('analyze destinations');
  });

  afterAll(async () => {
    // Closing the database also closes the data source.
    await database?.close();
    await testDatabase?.drop();
  });

  it('the list shows no owned destination and does not scan them', async () => {
    const rows = await store.page(ENVIRONMENT, {}, 51);

    expect([rows.length, new Set(rows.map(({ name }) => name)), rows[0]?.id]).toEqual([
      51,
      new Set(['Listed']),
      uuid(1, LISTED - 1),
    ]);
    const plan = await source.query<{ 'QUERY PLAN': string }[]>(
      `explain (analyze, buffers) select * from destinations where environment_id = ${ENVIRONMENT} and owner_id is null order by id desc limit 51`,
    );
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toContain('destinations_listed_idx');
    expect(Number(/shared hit=(\d+)/.exec(text)?.[1])).toBeLessThan(200);
  });

  it("a caller's id finds only listed destinations, and an owner's id only owned ones", async () => {
    const find = async (id: string): Promise<boolean[]> =>
      Promise.all(
        (['listed', 'owned'] as const).map(async (whose) => (await store.find(ENVIRONMENT, id, whose)) !== null),
      );

    expect(await find(uuid(1, 1))).toEqual([true, false]);
    expect(await find(uuid(2, 1))).toEqual([false, true]);
    expect((await store.findAll(ENVIRONMENT, [uuid(2, 1), uuid(1, 1), uuid(8, 1)])).map(({ id }) => id).sort()).toEqual(
      [uuid(1, 1), uuid(2, 1)],
    );
    expect(await store.findAll(ENVIRONMENT + 1, [uuid(1, 1)])).toEqual([]);
  });

  it('deleting an owner removes the circuits and rate-limit tokens of its destinations, and every node is notified', async () => {
    const [troubled, other] = [uuid(2, 5 * OWNED_EACH), uuid(2, 6 * OWNED_EACH)];
    await source.query(
      `insert into circuits select ${ENVIRONMENT}, id, 'closed', 1, null, null, 0 from unnest(array['${troubled}', '${other}']::uuid[]) id`,
    );
    await source.query(
      `insert into target_permits select ${ENVIRONMENT}, id, 1, now() from unnest(array['${troubled}', '${other}']::uuid[]) id`,
    );

    const removed = await store.removeOwned(ENVIRONMENT, uuid(3, 5));

    expect(removed.map(({ id }) => id)).toEqual(
      Array.from({ length: OWNED_EACH }, (_, n) => uuid(2, 5 * OWNED_EACH + n)),
    );
    expect(removed.filter(({ hadCircuit }) => hadCircuit).map(({ id }) => id)).toEqual([troubled]);
    expect(announced.filter((line) => line.startsWith('destination '))).toHaveLength(OWNED_EACH);
    expect(announced).toContain(`circuit ${ENVIRONMENT}:${troubled}`);
    for (const table of ['circuits', 'target_permits']) {
      expect(await source.query(`select target_id from ${table}`)).toEqual([{ target_id: other }]);
    }
    expect(await store.removeOwned(ENVIRONMENT, uuid(3, 5))).toEqual([]);
  });
});
