import type { DataSource } from 'typeorm';
import { dataSource } from '../../src/bootstrap/data-source.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { loadConfig } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import { type Id, Ids } from '../../src/kernel/ids.js';
import { type WaitingMessage, WaitingMessagesStore } from '../../src/modules/inbox/reading/waiting-messages.store.js';
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
  await new PartitionsStore(database).ensure([3], 0);
  store = new WaitingMessagesStore(database);
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

beforeEach(() => source.query('delete from inbox_messages'));

async function receive(environmentId: number, count: number, sizeBytes = 1, day = DAY): Promise<Id[]> {
  const made = Array.from({ length: count }, () => ids.next());
  await source.query(
    `insert into inbox_messages (environment_id, id, expires_on, alias_id, state, envelope_from, envelope_to, client_ip, helo, size_bytes, sha256, received_at, tries)
     select $1, id, date '1970-01-01' + $3::int, id, 'received', '', '{}', '192.0.2.1', 'x', $4, '', now(), 0 from unnest($2::uuid[]) id`,
    [environmentId, made, day, sizeBytes],
  );
  return made;
}

const claiming = (
  limit: number,
  held: [number, number][] = [],
  bytesMax = 1_000_000,
  days: readonly number[] | null = null,
): ReturnType<WaitingMessagesStore['claim']> =>
  store.claim({ claim: ids.next(), limit, perEnvironmentMax: 6, held: new Map(held), bytesMax, days });
const claim = async (...asked: Parameters<typeof claiming>): Promise<WaitingMessage[]> =>
  (await claiming(...asked)).messages;
const counted = (messages: readonly WaitingMessage[]): Record<number, number> =>
  messages.reduce<Record<number, number>>(
    (counts, { environmentId }) => ({ ...counts, [environmentId]: (counts[environmentId] ?? 0) + 1 }),
    {},
  );

describe('claims of received messages', () => {
  it("a flood of one environment does not delay other environments' mail", async () => {
    await receive(1, 200);
    await receive(2, 1);
    await receive(7, 3);

    const [few, more] = [
      await claim(3),
      await claim(24, [
        [1, 1],
        [2, 1],
        [7, 1],
      ]),
    ];

    expect([counted(few), counted(more)]).toEqual([
      { 1: 1, 2: 1, 7: 1 },
      { 1: 5, 7: 2 },
    ]);
  });

  it('returns only messages of the given days, if days are given', async () => {
    const [today, later] = [await receive(1, 2), await receive(2, 1, 1, DAY + 1)];
    const idsOf = (messages: readonly WaitingMessage[]): Id[] => messages.map(({ id }) => id);

    expect(idsOf(await claim(1, [], 0, [DAY]))).toEqual([today[0]]);
    expect(idsOf(await claim(6, [], 0, [DAY + 1, DAY + 2]))).toEqual(later);
    expect(idsOf(await claim(6, [], 0))).toEqual([today[1]]);
  });

  it('changes to messages of several days are written in one statement', async () => {
    const made = [...(await receive(1, 1)), ...(await receive(2, 1, 1, DAY + 1))];
    const messages = await claim(6);

    await store.renew(messages);
    await store.progress({ decided: [], settled: messages });

    const rows = await source.query(`select id, state from inbox_messages order by environment_id`);
    expect(rows).toEqual(made.map((id) => ({ id, state: 'processed' })));
  });

  it('several processes never hold the same message, and the oldest messages are claimed first', async () => {
    const made = await receive(1, 30);

    const claimed = (await Promise.all(Array.from({ length: 5 }, () => claim(24)))).flat().map(({ id }) => id);

    expect(new Set(claimed).size).toBe(claimed.length);
    expect(made.slice(0, claimed.length).sort()).toEqual([...claimed].sort());
    expect(claimed.length).toBeGreaterThanOrEqual(6);
  });

  it('claims of a dead worker are taken over when their lease ends, and its later writes have no effect', async () => {
    await receive(1, 1);
    const [held] = await claim(1);
    expect(await claim(1)).toEqual([]);
    await source.query(`update inbox_messages set claimed_until = now() - interval '1 second'`);

    const [taken] = await claim(1);

    const decided = {
      ...({
        spf: 'none',
        dkim: 'none',
        dmarc: 'none',
        dmarcPolicy: null,
        spam: 'disabled',
        virus: 'disabled',
      } as const),
      auth: 'none' as const,
      reason: null,
      fromAddress: null,
      detail: { subject: 'x' } as never,
      inReplyToEmailId: null,
    };
    expect([taken?.id, taken?.tries]).toEqual([held?.id, 2]);
    expect(await store.progress({ decided: [{ message: held as WaitingMessage, decided }], settled: [] })).toEqual(
      new Set(),
    );
    expect(await store.progress({ decided: [{ message: taken as WaitingMessage, decided }], settled: [] })).toEqual(
      new Set([taken?.id]),
    );
    await store.progress({ decided: [], settled: [taken as WaitingMessage] });
    expect(await claim(1)).toEqual([]);
  });

  it('a failed message waits for its retry, and an attempt that never started is not counted', async () => {
    await receive(1, 2);
    const [one, two] = (await claim(2)) as [WaitingMessage, WaitingMessage];
    await store.putBack(one, 60_000, true);
    await store.putBack(two, 0, false);

    expect((await claim(5)).map(({ id, tries }) => [id, tries])).toEqual([[two.id, 1]]);
    expect((await store.waiting()).count).toBe(2);
  });

  it('claims only as many bytes as there is room for, and a larger message alone', async () => {
    const [large] = await receive(1, 1, 1_500_000);
    await receive(2, 5, 300_000);
    const [small] = await receive(4, 1, 4_000);

    const [beside, alone, few] = [
      await claim(24, [[3, 1]], 900_000),
      await claim(1, [], 900_000),
      await claim(24, [], 900_000),
    ];

    // A message above the byte limit is claimed alone.
    expect([beside, alone].map((messages) => messages.map(({ id }) => id))).toEqual([[small], [large]]);
    expect(few.length).toBe(3);
  });

  it('locks only the rows that it picked, and reports those that other processes took meanwhile', async () => {
    const [first, second, third] = await receive(1, 3);
    const other = source.createQueryRunner();
    await other.startTransaction();
    await other.query('select 1 from inbox_messages where id = $1 for update', [first]);

    const { messages, raced } = await claiming(2);
    const left = await source.query(
      'select id from inbox_messages where claimed_by is null order by id for update skip locked',
    );

    expect([messages.map(({ id }) => id), raced, left]).toEqual([[second], true, [{ id: third }]]);
    await other.rollbackTransaction();
    await other.release();
    expect((await claiming(6)).raced).toBe(false);
  });

  it('the decisions about some messages and the end of others are written together', async () => {
    await receive(1, 2);
    const [one, two] = (await claim(2)) as [WaitingMessage, WaitingMessage];
    const decided = {
      ...({
        spf: 'pass',
        dkim: 'none',
        dmarc: 'none',
        dmarcPolicy: null,
        spam: 'disabled',
        virus: 'disabled',
      } as const),
      auth: 'none' as const,
      reason: 'virus' as const,
      fromAddress: 'a@example.com',
      detail: { subject: 'x' } as never,
      inReplyToEmailId: null,
    };

    expect(await store.progress({ decided: [{ message: one, decided }], settled: [two] })).toEqual(new Set([one.id]));

    const rows = await source.query(
      `select id, state, reason, spf, subject, event_id, claimed_by from inbox_messages order by id`,
    );
    expect(rows).toEqual([
      {
        id: one.id,
        state: 'received',
        reason: 'virus',
        spf: 'pass',
        subject: 'x',
        event_id: null,
        claimed_by: one.claim,
      },
      { id: two.id, state: 'processed', reason: null, spf: null, subject: null, event_id: two.id, claimed_by: null },
    ]);
  });

  it('only the current holder can renew a claim', async () => {
    await receive(1, 2);
    const [first, second] = await claim(2);
    if (!first || !second) throw new Error('Nothing was claimed.');
    await source.query(`update inbox_messages set claimed_until = now() + interval '1 second'`);
    await store.putBack(second, 0, true);
    const [again] = await claim(1);
    await source.query(`update inbox_messages set claimed_until = now() + interval '1 second'`);

    await store.renew([first, second]);

    const rows: { id: Id; seconds: number }[] = await source.query(
      'select id, extract(epoch from claimed_until - now())::float8 as seconds from inbox_messages',
    );
    expect(again?.id).toBe(second.id);
    expect(rows.filter(({ seconds }) => seconds > 5).map(({ id }) => id)).toEqual([first.id]);
  });
});
