import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { dataSource } from '../../src/bootstrap/data-source.js';
import type { Clock } from '../../src/kernel/clock.js';
import type { Config } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import type { Notifications } from '../../src/kernel/database/notifications.js';
import type { PlannedPool } from '../../src/kernel/database/planned-pool.js';
import type { Tenant } from '../../src/kernel/tenant.js';
import { ApplicationsStore } from '../../src/modules/applications/applications.store.js';
import { AttentionStore } from '../../src/modules/attention/attention.store.js';
import { OverviewStore } from '../../src/modules/metrics/overview.store.js';
import { RollupsStore, WHOLE } from '../../src/modules/metrics/rollups.store.js';
import { ResourceNamesStore } from '../../src/modules/names/resource-names.store.js';
import { explain, type Plan, type Recorded, recorder } from '../architecture/plans.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

const TARGETS = 10_000;
const APPLICATIONS = 50_000;
const DUE = 100_000;
const ENVIRONMENT = 1;
const DAY_MS = 86_400_000;
const APPLICATION = '00000001-0000-0000-0000-000000000007';

const idsOf = (kind: number, first: number): string[] =>
  Array.from(
    { length: 100 },
    (_, i) => `0000000${kind}-0000-0000-0000-${(first + 2 * i).toString(16).padStart(12, '0')}`,
  );
const [endpoints, destinations, applications] = [idsOf(2, 2), idsOf(2, 1), idsOf(1, 1)];

const id = (kind: number, i = 'i'): string => `('0000000${kind}-0000-0000-0000-' || lpad(to_hex(${i}), 12, '0'))::uuid`;

/**
 * SQL that inserts 10,000 targets, their rollups, and the rollups of the environment. One target in a hundred fails.
 */
const FILL = [
  `insert into organizations values ('00000000-0000-0000-0000-000000000001', 'a', 'A', now())`,
  `insert into environments (organization_id, mode, secret) select '00000000-0000-0000-0000-000000000001', mode, '\\x00' from unnest(array['live', 'test']) mode`,
  `insert into applications select ${ENVIRONMENT}, ${id(1)}, 'customer-' || i, 'Name ' || i, '{}', now(), now() from generate_series(1, ${APPLICATIONS}) i`,
  `insert into destinations (environment_id, id, name, type, config, headers, timeout_ms, validation, status, disabled_at, version, secret, created_at, updated_at, owner_id)
   select ${ENVIRONMENT}, ${id(2)}, 'Name ' || i, 'https', '{}', '{}', 15000, 'valid', case when i % 200 = 0 then 'disabled' else 'active' end, case when i % 200 = 0 then now() end, 1, '\\x00', now(), now(),
          case when i % 2 = 0 then ${id(1, '1 + i % 100')} end from generate_series(1, ${TARGETS}) i`,
  `insert into application_endpoints (environment_id, id, application_id, destination_id, description, event_types, channels, metadata, status, created_at, updated_at)
   select ${ENVIRONMENT}, ${id(2)}, ${id(1, '1 + i % 100')}, ${id(2)}, '', '{}', '{}', '{}', 'active', now(), now() from generate_series(2, ${TARGETS}, 2) i`,
  `insert into circuits (environment_id, target_id, state, consecutive_failures, opened_at, probe_at, probes)
   select ${ENVIRONMENT}, ${id(2)}, case when i % 100 = 0 then 'open' else 'closed' end, 5, now(), now(), 0 from generate_series(1, ${TARGETS}) i`,
  ...[
    ['1h', 'hour', 24],
    ['1d', 'day', 30],
  ].map(
    ([resolution, unit, windows]) => `
    insert into rollups (environment_id, key_id, resolution, start, received, delivered, failed, retried, dlq, attempts, is_failing, histogram)
    select ${ENVIRONMENT}, key_id, '${resolution}', date_trunc('${unit}', now(), 'UTC') - n * interval '1 ${unit}', 10, 9, 0, (bad and n < 2)::int, (bad and n < 2)::int, 11, bad and n < 2, '{0,11}'
    from (select ${id(2)} as key_id, i % 100 = 0 as bad from generate_series(1, ${TARGETS}) i union all select '${WHOLE}', true) k, generate_series(0, ${windows} - 1) n`,
  ),
  `insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used, replayed, superseded)
   select 1 + i % 2, gen_random_uuid(), 0, current_date, ${id(2, '1 + i % 10000')}, now() - i * interval '1 second', i % 3 = 0, i % 2, 0, false, false from generate_series(1, ${DUE}) i`,
  'analyze applications, destinations, application_endpoints, circuits, rollups, due_deliveries',
];

/** The queries of the overview page must not read more rows when there are more events. */
describe('the overview, with 10,000 targets', () => {
  let database: TestDatabase;
  let kernel: Database;
  let clients: Record<Recorded['pool'], pg.PoolClient>;

  beforeAll(async () => {
    database = await createDatabase('migrated');
    const source = await dataSource(database.url, 2).initialize();
    kernel = new Database(source, { databaseUrl: database.url } as Config);
    const { preparedPool, readPool } = kernel as unknown as Record<'preparedPool' | 'readPool', PlannedPool>;
    const { master } = source.driver as unknown as { master: pg.Pool };
    clients = {
      hot: await preparedPool.pool.connect(),
      reads: await readPool.pool.connect(),
      ordinary: await master.connect(),
    };
    for (const statement of FILL) await clients.ordinary.query(statement);
  });

  afterAll(async () => {
    for (const client of Object.values(clients ?? {})) client.release();
    await kernel?.close();
    await database?.drop();
  });

  async function planOf(ask: (recording: Database) => Promise<unknown>): Promise<Plan> {
    const { database: recording, recorded } = recorder();
    await ask(recording);
    const [asked] = recorded;
    if (!asked) throw new Error('Nothing was asked.');
    return explain(clients[asked.pool], asked);
  }

  const now = Date.now();
  const range = { firstMs: now - DAY_MS, lastMs: now };

  it.each<[string, (db: Database) => Promise<unknown>, string[], number]>([
    [
      'rollups of the environment',
      (db) => new RollupsStore(db).find({ environmentId: ENVIRONMENT } as Tenant, WHOLE, '1h', range),
      ['rollups_pkey'],
      60,
    ],
    [
      'open deliveries, up to 10,000',
      (db) => new OverviewStore(db).open(ENVIRONMENT, null),
      ['due_deliveries_due_at_idx', 'due_deliveries_pkey'],
      13_500,
    ],
    [
      'open deliveries of an application with 100 endpoints',
      (db) => new OverviewStore(db).open(ENVIRONMENT, APPLICATION),
      ['application_endpoints_application_id_idx', 'due_deliveries_parked_idx', 'due_deliveries_retries_idx'],
      2_000,
    ],
    [
      'failing targets of a day',
      (db) => new OverviewStore(db).failing(ENVIRONMENT, '1h', now - DAY_MS, 10),
      ['destinations_pkey', 'rollups_failing_idx', 'rollups_pkey'],
      2_500,
    ],
    [
      'failing targets of a month',
      (db) => new OverviewStore(db).failing(ENVIRONMENT, '1d', now - 30 * DAY_MS, 10),
      ['destinations_pkey', 'rollups_failing_idx', 'rollups_pkey'],
      2_500,
    ],
    [
      'names of 100 endpoints, 100 destinations and 100 applications',
      (db) => new ResourceNamesStore(db).find(ENVIRONMENT, { ep: endpoints, dst: destinations, app: applications }),
      [
        'application_endpoints_pkey',
        'applications_pkey',
        'destinations_listed_idx',
        'destinations_pkey',
        'endpoints_pkey',
      ],
      2_000,
    ],
    ['disabled', (db) => new AttentionStore(db).disabled(ENVIRONMENT), ['destinations_disabled_at_idx'], 60],
    [
      'disabled subscriptions',
      (db) => new AttentionStore(db).disabledSubscriptions(ENVIRONMENT),
      ['application_endpoints_disabled_idx'],
      60,
    ],
    [
      'open circuits',
      (db) => new AttentionStore(db).openCircuits(ENVIRONMENT),
      ['circuits_shut_idx', 'destinations_pkey'],
      1_000,
    ],
    [
      'dead letters',
      (db) => new AttentionStore(db).deadLetters(ENVIRONMENT),
      ['destinations_pkey', 'rollups_failing_idx', 'rollups_pkey'],
      2_500,
    ],
    ['overdue', (db) => new AttentionStore(db).overdue(ENVIRONMENT), ['due_deliveries_due_at_idx'], 1_500],
    ['lost domains', (db) => new AttentionStore(db).lostDomains(ENVIRONMENT), ['domains_pkey'], 20],
    ['failed jobs', (db) => new AttentionStore(db).failedJobs(ENVIRONMENT), ['replay_jobs_pkey'], 20],
  ])('%s', async (_what, ask, indexes, pagesMax) => {
    const plan = await planOf(ask);

    expect(plan.indexes).toEqual(indexes);
    expect(plan.scanned).toEqual([]);
    expect(plan.pages).toBeLessThan(pagesMax);
  });

  it('dead letters: reads no target if the whole environment has had none recently', async () => {
    await clients.ordinary.query(
      `delete from rollups where key_id = '${WHOLE}' and start > now() - interval '3 hours'`,
    );

    const plan = await planOf((db) => new AttentionStore(db).deadLetters(ENVIRONMENT));

    expect(plan.indexes).toEqual(['rollups_pkey']);
    expect(plan.pages).toBeLessThan(20);
  });

  it('events that failed verification: events_disposition_idx, up to 2,000 of them', async () => {
    const plan = await planOf((db) => new AttentionStore(db).unverified(ENVIRONMENT, now - DAY_MS));

    expect(plan.scanned).toEqual([]);
    expect(plan.pages).toBeLessThan(200);
  });

  it('a search among 50,000 applications: uses the indexes of name and uid', async () => {
    const sent: [string, unknown[]][] = [];
    const source = (kernel as unknown as { dataSource: DataSource }).dataSource;
    Object.assign(source, {
      logger: { logQuery: (text: string, values: unknown[]) => void sent.push([text, values]) },
    });

    const found = await new ApplicationsStore(kernel, {} as Notifications, {} as Clock).page(
      ENVIRONMENT,
      { search: 'CUSTOMER-4999' },
      51,
    );

    expect(found).toHaveLength(11);
    const [text, values] = sent.at(-1) ?? ['', []];
    const { rows } = await clients.ordinary.query<{ 'QUERY PLAN': unknown }>(`explain (format json) ${text}`, values);
    const plan = JSON.stringify(rows);
    expect(plan).toContain('applications_name_idx');
    expect(plan).toContain('applications_uid_prefix_idx');
    expect(plan).not.toContain('Seq Scan');
  });
});
