import type { DataSource } from 'typeorm';
import { dataSource } from '../../src/data-source.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { loadConfig } from '../../src/kernel/config.js';
import { Database } from '../../src/kernel/database.js';
import { type Id, Ids } from '../../src/kernel/ids.js';
import { WaitingMessagesStore, type WaitingMessage } from '../../src/modules/inbox/waiting-messages.store.js';
import { PartitionsStore } from '../../src/modules/ledger/partitions.store.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

const ids = new Ids(new SystemClock());
const DAY = Math.floor(Date.now() / 86_400_000) + 1;

let testDatabase: TestDatabase;
let source: DataSource;
let database: Database;
let store: WaitingMessagesStore;

beforeAll(async () => {
  testDatabase = await createDatabase();
  source = await dataSource(testDatabase.url).initialize();
  database = new Database(source, loadConfig({ DATABASE_URL: testDatabase.url, MASTER_KEY: '0'.repeat(64) }));
  await new PartitionsStore(database).ensure(3);
  store = new WaitingMessagesStore(database);
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

beforeEach(() => source.query('delete from inbox_messages'));

async function receive(environmentId: number, count: number): Promise<Id[]> {
  const made = Array.from({ length: count }, () => ids.next());
  await source.query(
    `insert into inbox_messages (environment_id, id, expires_on, alias_id, state, envelope_from, envelope_to, client_ip, helo, size_bytes, sha256, received_at, tries)
     select $1, id, date '1970-01-01' + $3::int, id, 'received', '', '{}', '192.0.2.1', 'x', 1, '', now(), 0 from unnest($2::uuid[]) id`, [environmentId, made, DAY]);
  return made;
}

const claim = (limit: number, held: [number, number][] = []): Promise<WaitingMessage[]> =>
  store.claim({ claim: ids.next(), limit, perEnvironmentMax: 6, held: new Map(held) });
const counted = (messages: readonly WaitingMessage[]): Record<number, number> =>
  messages.reduce<Record<number, number>>((counts, { environmentId }) => ({ ...counts, [environmentId]: (counts[environmentId] ?? 0) + 1 }), {});

describe('claims of received messages', () => {
  it("a flood of one environment keeps nobody else's mail waiting", async () => {
    await receive(1, 200);
    await receive(2, 1);
    await receive(7, 3);

    const [few, more] = [await claim(3), await claim(24, [[1, 1], [2, 1], [7, 1]])];

    expect([counted(few), counted(more)]).toEqual([{ 1: 1, 2: 1, 7: 1 }, { 1: 5, 7: 2 }]);
  });

  it('several processes never hold the same message, and the oldest go first', async () => {
    const made = await receive(1, 30);

    const claimed = (await Promise.all(Array.from({ length: 5 }, () => claim(24)))).flat().map(({ id }) => id);

    expect(new Set(claimed).size).toBe(claimed.length);
    expect(made.slice(0, claimed.length).sort()).toEqual([...claimed].sort());
    expect(claimed.length).toBeGreaterThanOrEqual(6);
  });

  it('what a dead worker held is taken up when its time is over, and what it writes then is not counted', async () => {
    await receive(1, 1);
    const [held] = await claim(1);
    expect(await claim(1)).toEqual([]);
    await source.query(`update inbox_messages set claimed_until = now() - interval '1 second'`);

    const [taken] = await claim(1);

    const decided = { ...({ spf: 'none', dkim: 'none', dmarc: 'none', dmarcPolicy: null, spam: 'disabled', virus: 'disabled' } as const), auth: 'none' as const, reason: null, fromAddress: null, detail: { subject: 'x' } as never };
    expect([taken?.id, taken?.tries]).toEqual([held?.id, 2]);
    expect(await store.decide(held as WaitingMessage, decided)).toBe(false);
    expect(await store.decide(taken as WaitingMessage, decided)).toBe(true);
    await store.settle(taken as WaitingMessage);
    expect(await claim(1)).toEqual([]);
  });

  it('what failed rests, and a try that was none is given back', async () => {
    await receive(1, 2);
    const [one, two] = (await claim(2)) as [WaitingMessage, WaitingMessage];
    await store.putBack(one, 60_000, true);
    await store.putBack(two, 0, false);

    expect((await claim(5)).map(({ id, tries }) => [id, tries])).toEqual([[two.id, 1]]);
    expect((await store.waiting()).count).toBe(2);
  });
});
