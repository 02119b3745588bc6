import type pg from 'pg';
import { dataSource } from '../../src/bootstrap/data-source.js';
import type { Config } from '../../src/kernel/config/config.js';
import type { Vault } from '../../src/kernel/crypto/vault.js';
import { Database } from '../../src/kernel/database/database.js';
import { PulledStore } from '../../src/modules/events/pulled.store.js';
import type { Feed } from '../../src/modules/pull/feeds.js';
import { ORIGIN, type Position } from '../../src/modules/pull/place.js';
import { PositionsStore } from '../../src/modules/pull/positions.store.js';
import { PullStore } from '../../src/modules/pull/pull.store.js';
import { explain, type Plan, type Recorded, recorder } from '../architecture/plans.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

const DAY_MS = 86_400_000;
const DAYS = 35;
const ITEMS = 120_000;
/** Id of the target of every third item. The other items go to 200 other targets. */
const BUSY = '00000000-0000-0000-0000-000000000000';
/** Id of the endpoint that received one in fifty items. */
const ENDPOINT = '00000000-0000-0000-0000-00000000000e';
/** Number of transactions, each of which stored ten items. */
const XIDS = ITEMS / 10;
const NIL = '00000000-0000-0000-0000-000000000000';

const iso = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** Returns SQL that inserts a month of items with their events and deliveries, one day per partition. */
function fill(today: number): string[] {
  const partitions = Array.from({ length: DAYS }, (_, i) => today + i).flatMap((day) =>
    ['events', 'deliveries', 'pull_items'].map(
      (table) =>
        `create table ${table}_p${iso(day).replaceAll('-', '')} partition of ${table} for values from ('${iso(day)}') to ('${iso(day + 1)}')`,
    ),
  );
  return [
    ...partitions,
    // The items of this test have epoch 1, which is older than the cluster's current epoch 2.
    'update cluster_epochs set epoch = 2',
    `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload)
     select 1, (lpad(to_hex(i), 12, '0') || substr(md5(i::text), 1, 20))::uuid, date '${iso(today)}' + i * ${DAYS - 5} / ${ITEMS},
            lpad(to_hex(case when i % 3 = 0 then 0 else 1 + i % 200 end), 32, '0')::uuid, 'outbound', 'bulk', 2, '{}'
     from generate_series(0, ${ITEMS} - 1) i`,
    `insert into deliveries (environment_id, event_id, ordinal, expires_on, target_id, status, attempts, replayed, superseded, settled_at)
     select environment_id, id, 0, expires_on, target_id, 'delivered', 0, false, false, now() from events`,
    `insert into pull_items (environment_id, target_id, epoch, xid, event_id, ordinal, expires_on, endpoint_id, replayed)
     select environment_id, target_id, 1, (row_number() over (order by id) - 1) / 10 + 1, id, 0, expires_on,
            case when row_number() over (order by id) % 50 = 0 then '${ENDPOINT}'::uuid end, false from events`,
    `insert into organizations values ('00000000-0000-0000-0000-000000000001', 'a', 'A', now())`,
    `insert into environments (organization_id, mode, secret) values ('00000000-0000-0000-0000-000000000001', 'live', '\\x00')`,
    // Every tenth destination is a pull destination with ten endpoints. The committed position of each endpoint is in
    // the middle of the items.
    `insert into destinations (environment_id, id, name, type, config, headers, timeout_ms, status, validation, version, secret, created_at, updated_at)
     select 1, lpad(to_hex(i), 32, '0')::uuid, 'D', case when i % 10 = 0 then 'pull' else 'https' end, '{}', '{}', 1000, 'active', 'valid', 1, '\\x00', now(), now() from generate_series(0, 3000) i`,
    `insert into pull_positions select 1, gen_random_uuid(), lpad(to_hex(i * 10), 32, '0')::uuid, 1, ${XIDS} / 2, '${NIL}', 0, now() from generate_series(0, 300) i, generate_series(1, 10)`,
    'analyze events, deliveries, pull_items, destinations, pull_positions',
  ];
}

/** Checks that each statement of pull.store.ts uses the index that its comment names. */
describe('pull, with 120,000 items in 35 partitions', () => {
  let database: TestDatabase;
  let kernel: Database;
  let client: pg.PoolClient;

  beforeAll(async () => {
    database = await createDatabase('migrated');
    const source = await dataSource(database.url, 1).initialize();
    for (const statement of fill(Math.floor(Date.now() / DAY_MS))) await source.query(statement);
    kernel = new Database(source, { databaseUrl: database.url } as Config);
    client = await (kernel as unknown as { readPool: { pool: pg.Pool } }).readPool.pool.connect();
  });

  afterAll(async () => {
    client?.release();
    await kernel?.close();
    await database?.drop();
  });

  const feed = (endpointId: string | null = null, targetId = BUSY): Feed => ({
    environmentId: 1,
    keyId: endpointId ?? targetId,
    targetId,
    endpointId,
    staticHeaders: {},
  });

  async function planOf(ask: (store: PullStore) => Promise<unknown>): Promise<Plan> {
    const { database: recording, recorded } = recorder();
    await ask(new PullStore(recording, {} as Vault));
    const [statement] = recorded;
    if (!statement) throw new Error('Nothing was asked.');
    return explain(client, statement);
  }

  it.each<[string, Feed, Position, number]>([
    ['from the start', feed(), ORIGIN, 3_000],
    ['from the middle', feed(), `1.${XIDS / 2}.${NIL}.0`, 3_000],
    ['of a quiet destination', feed(null, '00000000-0000-0000-0000-000000000007'), ORIGIN, 3_000],
    ['of one endpoint, past thousands of other items', feed(ENDPOINT), `1.${XIDS / 4}.${NIL}.0`, 15_000],
  ])(
    'a hundred items %s: pull_items_pkey in its order, their events and deliveries by their keys',
    async (_where, of, from, pagesMax) => {
      const plan = await planOf((store) => store.look(of, from, 100));

      expect(plan.indexes).toEqual(['cluster_epochs_pkey', 'deliveries_pkey', 'events_pkey', 'pull_items_pkey']);
      expect(plan.scanned).toEqual([]);
      expect(plan.pages).toBeLessThan(pagesMax);
    },
  );

  it('whether consumers acknowledged fifty events: the keys of their deliveries and items', async () => {
    const { rows } = await client.query<{ id: string; expiresOn: string }>(
      `select id, expires_on::text as "expiresOn" from events where target_id = $1 order by md5(id::text) limit 50`,
      [BUSY],
    );
    const { database: recording, recorded } = recorder();
    await new PulledStore(recording).find({ environmentId: 1 }, rows);

    const plan = await explain(client, recorded[0] as Recorded);

    expect(plan.indexes).toEqual(expect.arrayContaining(['deliveries_pkey', 'pull_items_pkey']));
    expect(plan.scanned).toEqual([]);
    expect(plan.pages).toBeLessThan(2_000);
  });

  it('positions of two hundred destinations: their indexes, and at most a thousand items of each', async () => {
    const { database: recording, recorded } = recorder();
    await new PositionsStore(recording).list(1, ['pull'], null, 51);
    const plan = await explain(client, recorded[0] as Recorded);

    // Ignores pull_positions_pkey, because the planner may use this index or another index to find the only position of
    // a destination.
    expect(plan.indexes.filter((name) => name !== 'pull_positions_pkey')).toEqual([
      'cluster_epochs_pkey',
      'destinations_listed_idx',
      'pull_items_pkey',
      'pull_positions_target_id_idx',
    ]);
    expect(plan.scanned).toEqual([]);
    expect(plan.pages).toBeLessThan(51 * DAYS * 40);
  });

  it('no items at the end: a few pages of each partition', async () => {
    const plan = await planOf((store) => store.look(feed(), `1.${XIDS + 1}.${NIL}.0`, 100));

    expect(plan.indexes).toEqual(['cluster_epochs_pkey', 'pull_items_pkey']);
    expect(plan.pages).toBeLessThan(DAYS * 6);
  });

  it('250 consumers waiting at the end: a few pages of each partition per consumer', async () => {
    const spots = Array.from({ length: 250 }, (_, i) => ({
      feed: feed(null, i.toString(16).padStart(32, '0')),
      position: `1.${XIDS + 1}.${NIL}.0`,
    }));

    const plan = await planOf((store) => store.peek(spots));

    expect(plan.indexes).toEqual(['cluster_epochs_pkey', 'pull_items_pkey']);
    expect(plan.scanned).toEqual([]);
    expect(plan.pages).toBeLessThan(250 * DAYS * 6);
  });
});
