import pg from 'pg';
import { dataSource } from '../../src/bootstrap/data-source.js';
import type { Config } from '../../src/kernel/config/config.js';
import { Database, type PiggybackStatement, type Statement } from '../../src/kernel/database/database.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
let direct: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
  direct = new pg.Client({ connectionString: database.url });
  await direct.connect();
  await direct.query('create table seats (id int primary key, xid xid8 not null default pg_current_xact_id())');
});

afterAll(async () => {
  await direct.end();
  await database.drop();
});

beforeEach(() => direct.query('truncate seats'));

const seat = (name: string): Statement => ({ name, text: 'insert into seats (id) select $1::int returning id' });
const seats = async (): Promise<{ id: number; xid: string }[]> =>
  (await direct.query('select id, xid from seats order by id')).rows;

/**
 * Returns a statement that runs in the transaction of another operation. After the commit, `rows` contains its result.
 */
function ride(statement: Statement, values: unknown[]): PiggybackStatement & { rows: unknown[] | null } {
  const taken = {
    statement,
    values,
    rows: null as unknown[] | null,
    onCommitted: (rows: unknown[]) => void (taken.rows = rows),
  };
  return taken;
}

describe.each([
  { way: 'without a pooler', isPooled: false },
  { way: 'through a pooler', isPooled: true },
])('a statement with a piggybacked one, $way', ({ isPooled }) => {
  let kernel: Database;

  beforeAll(async () => {
    kernel = new Database(await dataSource(database.url, 1).initialize(), {
      databaseUrl: database.url,
      isPooled,
    } as Config);
  });

  afterAll(() => kernel.close());

  it('both are committed together, and each returns its rows', async () => {
    const along = ride(seat('along'), [2]);

    const rows = await kernel.queryPrepared(seat('own'), [1], along);

    expect([rows, along.rows]).toEqual([[{ id: 1 }], [{ id: 2 }]]);
    const held = await seats();
    expect(held.map(({ id }) => id)).toEqual([1, 2]);
    expect(new Set(held.map(({ xid }) => xid)).size).toBe(1);
  });

  it.each([
    { which: 'the first', own: 7, along: 2 },
    { which: 'the piggybacked one', own: 1, along: 7 },
  ])(
    'neither takes effect if $which fails, and both can run separately, and together, directly afterwards',
    async ({ which, own, along }) => {
      await direct.query('insert into seats (id) values (7)');
      const name = which.length;
      const taken = ride(seat(`along_${name}`), [along]);

      await expect(kernel.queryPrepared(seat(`own_${name}`), [own], taken)).rejects.toMatchObject({ code: '23505' });
      expect([taken.rows, (await seats()).map(({ id }) => id)]).toEqual([null, [7]]);

      await kernel.queryPrepared(seat(`own_${name}`), [3]);
      await kernel.queryPrepared(seat(`along_${name}`), [4]);
      const again = ride(seat(`along_${name}`), [6]);
      await kernel.queryPrepared(seat(`own_${name}`), [5], again);
      expect([again.rows, (await seats()).map(({ id }) => id)]).toEqual([[{ id: 6 }], [3, 4, 5, 6, 7]]);
    },
  );

  it('a piggybacked statement does not wait for locked rows', async () => {
    await direct.query('insert into seats (id) values (7)');
    await direct.query('begin');
    await direct.query('select from seats where id = 7 for update');
    try {
      const taken = ride({ name: 'leave', text: 'delete from seats where id = $1::int' }, [7]);

      await expect(kernel.queryPrepared(seat('own'), [1], taken)).rejects.toMatchObject({ code: '55P03' });
      expect((await seats()).map(({ id }) => id)).toEqual([7]);
    } finally {
      await direct.query('rollback');
    }
  });

  it('a single statement waits for locks as usual, also after one with a piggybacked statement', async () => {
    await kernel.queryPrepared(seat('own'), [1], ride(seat('along'), [2]));

    const [row] = await kernel.queryPrepared<{ lock_timeout: string }>(
      { name: 'limit', text: `select current_setting('lock_timeout') as lock_timeout` },
      [],
    );

    expect(row).toEqual({ lock_timeout: '0' });
  });
});
