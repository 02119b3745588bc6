import pg from 'pg';
import type { Database, Statement } from '../../src/kernel/database/database.js';
import type { SetAsideRange } from '../../src/modules/events/set-aside.contract.js';
import { SetAsideStore } from '../../src/modules/events/set-aside.store.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

const ENDPOINT = 'ffffffff-0000-0000-0000-000000000001';
const DAY = '2026-12-01';
const uuid = (n: number): string => `01890000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const range = (status: SetAsideRange['status'], from = 0): SetAsideRange => ({
  ...{ environmentId: 1, endpointId: ENDPOINT, status, fromId: uuid(from), beforeId: uuid(1_000) },
});

let database: TestDatabase;
let client: pg.Client;
let store: SetAsideStore;

/**
 * Test data: events 1 to 40 have the status `parked`, and a transform dropped events 41 to 60. For events 15, 30 and
 * 39, the transform failed. Events 1 to 10 were already released.
 */
beforeAll(async () => {
  database = await createDatabase('migrated');
  client = new pg.Client(database.url);
  await client.connect();
  for (const table of ['events', 'requests'])
    await client.query(`create table ${table}_p partition of ${table} for values from ('${DAY}') to ('2026-12-02')`);
  await client.query(
    `insert into events (environment_id, id, expires_on, target_id, direction, event_type, payload_bytes, payload, disposition, dropped)
     select 1, ('01890000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, $2, 'inbound', 'a', 2, '{}',
       case when n > 40 then 'ignored' else 'parked' end, case when n > 40 then true end from generate_series(1, 60) n`,
    [DAY, ENDPOINT],
  );
  await client.query(
    `insert into requests (environment_id, id, expires_on, endpoint_id, method, url, path, query, headers, size_bytes, ip,
       verification, note, released_at)
     select 1, id, expires_on, target_id, 'POST', '/', '', '', '[]', 2, '203.0.113.7', 'none',
       case when id = any ($1::uuid[]) then 'The transform failed: threw.' else 'The endpoint is paused.' end,
       case when id <= $2 then now() end from events`,
    [[15, 30, 39].map(uuid), uuid(10)],
  );
  store = new SetAsideStore({
    readPrepared: async ({ text }: Statement, values: unknown[]) =>
      (await client.query<pg.QueryResultRow>(text, values)).rows,
  } as unknown as Database);
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

describe('SetAsideStore', () => {
  it.each([
    ['all of a status', range('dropped'), [100, 100], 20, null],
    ['a full page, and whether more events were scanned', range('parked'), [5, 20], 5, 20],
    ['no request if the scanned events are released', range('parked'), [100, 10], 0, 10],
    ['requests whose transform failed among the scanned events', range('transform_failed'), [100, 20], 1, 20],
    ['the rest of them', range('transform_failed', 21), [100, 20], 2, 40],
    ['nothing after the last one', range('transform_failed', 41), [100, 20], 0, null],
  ] as const)('page returns %s', async (_what, of, [limit, scannedMax], found, scannedTo) => {
    const page = await store.page(of, limit, scannedMax);

    expect(page.requests).toHaveLength(found);
    expect(page.scannedTo).toBe(scannedTo === null ? null : uuid(scannedTo));
    expect(page.requests.map(({ id }) => id)).toEqual(page.requests.map(({ id }) => id).toSorted());
  });

  it.each([
    ['parked', 30],
    ['transform_failed', 3],
    ['dropped', 20],
    ['quarantined', 0],
  ] as const)('counts the %s requests that were not released', async (status, scanned) => {
    expect(await store.count(range(status), 100)).toEqual({ scanned, excluded: 0 });
  });
});
