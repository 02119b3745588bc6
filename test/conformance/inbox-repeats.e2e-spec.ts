import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { dataSource } from '../../src/bootstrap/data-source.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { loadConfig } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import type { PlannedPool } from '../../src/kernel/database/planned-pool.js';
import { Ids } from '../../src/kernel/ids.js';
import { AcceptMailStore } from '../../src/modules/inbox/intake/accept-mail.store.js';
import type { NewMessage } from '../../src/modules/inbox/intake/message-row.js';
import { PartitionsStore } from '../../src/modules/ledger/partitions.store.js';
import { explain, recorder } from '../architecture/plans.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

const ids = new Ids(new SystemClock());
const DAY = Math.floor(Date.now() / 86_400_000) + 1;
const ALIAS = ids.next();
const OF_THE_DAY = 12_000;

let testDatabase: TestDatabase;
let source: DataSource;
let database: Database;
let client: pg.PoolClient;

beforeAll(async () => {
  testDatabase = await createDatabase();
  source = await dataSource(testDatabase.url).initialize();
  database = new Database(source, loadConfig({ DATABASE_URL: testDatabase.url, MASTER_KEY: '0'.repeat(64) }));
  await new PartitionsStore(database).ensure([3], 0);
  client = await (database as unknown as { preparedPool: PlannedPool }).preparedPool.pool.connect();
});

afterAll(async () => {
  client?.release();
  await database?.close();
  await testDatabase?.drop();
});

const message = (n: number): NewMessage => ({
  environmentId: 1,
  id: ids.next(),
  expiresOnDay: DAY,
  aliasId: ALIAS,
  reason: null,
  envelopeFrom: 'a@example.com',
  envelopeTo: ['b@example.com'],
  clientIp: '192.0.2.1',
  helo: 'x',
  tls: null,
  sizeBytes: 2_000,
  sha256: createHash('sha256').update(String(n)).digest(),
  raw: Buffer.alloc(2_000, 'x'),
  messageId: `<${n}@example.com>`,
});

async function pagesFor(messages: readonly NewMessage[]): Promise<number> {
  const { database: recording, recorded } = recorder();
  await new AcceptMailStore(recording).insert(messages);
  const [asked] = recorded;
  if (!asked) throw new Error('Nothing was asked.');
  return (await explain(client, asked)).pages;
}

describe('an incoming message', () => {
  beforeAll(async () => {
    await source.query(`insert into organizations values ($1, 'a', 'A', now())`, [ALIAS]);
    await source.query(`insert into environments (organization_id, mode, secret) values ($1, 'live', '\\x00')`, [
      ALIAS,
    ]);
    await source.query(
      `insert into aliases (environment_id, id, kind, local_part, address, destination_ids, allowed_senders, version, created_at, updated_at)
       values (1, $1, 'platform', 'b', 'b@example.com', '{}', '{}', 1, now(), now())`,
      [ALIAS],
    );
    const store = new AcceptMailStore(database);
    for (let n = 0; n < OF_THE_DAY; n += 100) await store.insert(Array.from({ length: 100 }, (_, i) => message(n + i)));
    // After autovacuum, PostgreSQL has a row count, but no column statistics.
    await source.query('vacuum inbox_messages');
  });

  it('is compared with possible duplicates in bounded work, however many messages its alias had that day', async () => {
    expect(await new AcceptMailStore(database).insert([message(7), message(OF_THE_DAY + 1)])).toEqual(
      new Map([[0, 'repeated']]),
    );
    expect(await pagesFor(Array.from({ length: 4 }, (_, n) => message(OF_THE_DAY + 10 + n)))).toBeLessThan(400);
  });
});
