import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { dataSource, MIGRATIONS } from '../../src/bootstrap/data-source.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { schemaOf } from './schema.js';
import { filesBelow } from './source-tree.js';

let database: TestDatabase;
let source: DataSource;

beforeAll(async () => {
  database = await createDatabase('migrated');
  source = await dataSource(database.url, 3).initialize();
});

afterAll(async () => {
  await source?.destroy();
  await database?.drop();
});

/** Removes NOT VALID, which only down migrations add to a check constraint, because they do not check existing rows. */
const checked = (schema: readonly string[]): string[] => schema.map((line) => line.replace(/ NOT VALID$/, ''));

describe('migrations', () => {
  it('are all listed in data-source.ts', () => {
    const stamps = filesBelow('migrations').map((file) => /(\d+)-[a-z-]+\.ts$/.exec(file)?.[1] ?? file);

    expect(MIGRATIONS.map(({ name }) => /\d+$/.exec(name)?.[0] ?? name)).toEqual(stamps);
  });

  it.each(['audit_log_actor_kind_check', 'emails_status_check', 'suppressions_origin_check'])(
    '%s is replaced by a wider check without reading the rows under an exclusive lock',
    async (constraint) => {
      const found = await source.query<unknown>(
        'select distinct convalidated from pg_constraint where conname = $1 and coninhcount = 0',
        [constraint],
      );

      expect(found).toEqual([{ convalidated: false }]);
    },
  );

  it('can be reverted one by one, and each creates the same schema when it runs again', async () => {
    const whole = await schemaOf(source);
    expect(whole.length).toBeGreaterThan(100);

    // The schema before each migration, newest migration first.
    const stages: { name: string; below: string[] }[] = [];
    for (const { name } of [...MIGRATIONS].reverse()) {
      await source.undoLastMigration();
      stages.push({ name, below: await schemaOf(source) });
    }
    expect(stages.at(-1)?.below).toEqual([]);

    // Runs each migration again on the schema that remained after its revert, and reverts the migration again.
    const all = [...source.migrations];
    for (const [n, { name, below }] of [...stages].reverse().entries()) {
      source.migrations.splice(0, source.migrations.length, ...all.slice(0, n + 1));
      const above = stages[stages.length - n - 2]?.below ?? whole;
      expect((await source.runMigrations()).map(({ name: done }) => done)).toEqual([name]);
      expect({ name, schema: checked(await schemaOf(source)) }).toEqual({ name, schema: checked(above) });
      await source.undoLastMigration();
      expect({ name, schema: checked(await schemaOf(source)) }).toEqual({ name, schema: checked(below) });
      await source.runMigrations();
    }
    expect(await schemaOf(source)).toEqual(whole);
  });

  it.each([
    ['events', 'events_dropped_idx', 'DroppedIndex1732690150000'],
    ['requests', 'requests_too_large_idx', 'TooLargeIndex1732690210000'],
    ['requests', 'requests_dedupe_id_idx', 'DedupeIdsIndex1732690710000'],
  ])('while the index of one partition of %s is built, the others can be written', async (table, index, migration) => {
    const newest = MIGRATIONS.findIndex(({ name }) => name === migration);
    for (let n = newest; n < MIGRATIONS.length; n++) await source.undoLastMigration();
    const [first, second] = ['20990101', '20990102'].map((day) => `${table}_p${day}`);
    await source.query(`create table ${first} partition of ${table} for values from ('2099-01-01') to ('2099-01-02')`);
    await source.query(`create table ${second} partition of ${table} for values from ('2099-01-02') to ('2099-01-03')`);
    const writer = source.createQueryRunner();
    await writer.startTransaction();
    await writer.query(`lock table ${second} in row exclusive mode`);

    const migrated = source.runMigrations();
    const waiting = `select from pg_locks where not granted and mode = 'ShareLock' and relation = '${second}'::regclass`;
    while ((await source.query<unknown[]>(waiting)).length === 0) await sleep(20);
    await writer.query(`set local lock_timeout = '500ms'`);
    await writer.query(`lock table only ${table} in row exclusive mode`);
    await writer.query(`lock table ${first} in row exclusive mode`);
    await writer.commitTransaction();
    await writer.release();
    await migrated;

    expect(await source.query(`select indisvalid from pg_index where indexrelid = $1::regclass`, [index])).toEqual([
      { indisvalid: true },
    ]);
    await source.query(`drop table ${first}, ${second}`);
  });
});
