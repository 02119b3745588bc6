import { dataSource } from '../../src/bootstrap/data-source.js';
import type { Config } from '../../src/kernel/config/config.js';
import { Database, type Statement } from '../../src/kernel/database/database.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

const SEAT: Statement = { name: 'seat', text: 'insert into seats (id) values ($1::int) returning id' };
const SEATS: Statement = { name: 'seats', text: 'select id from seats order by id' };

describe('a unit of work', () => {
  let database: TestDatabase;
  let kernel: Database;

  beforeAll(async () => {
    database = await createDatabase();
    // The pool has a single connection, so that the tests detect a leaked connection at once.
    kernel = new Database(await dataSource(database.url, 1).initialize(), {
      databaseUrl: database.url,
      isPooled: false,
    } as Config);
    await kernel.query({ name: 'seats_made', text: 'create table seats (id int primary key)' });
  });

  afterAll(async () => {
    await kernel?.close();
    await database?.drop();
  });

  it('that ends while its transaction begins releases the connection, and writes nothing', async () => {
    let begun: Promise<unknown> = Promise.resolve();
    const unit = kernel.unitOfWork(async () => {
      begun = kernel.transaction(() => kernel.query(SEAT, [1]));
      throw new Error('Something else failed.');
    });

    await expect(unit).rejects.toThrow('Something else failed.');
    await expect(begun).rejects.toThrow('ended while its transaction began');

    await kernel.query(SEAT, [2]);
    expect(await kernel.query(SEATS)).toEqual([{ id: 2 }]);
  });
});
