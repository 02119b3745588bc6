import type { DataSource } from 'typeorm';
import { dataSource, ENTITIES } from '../../src/bootstrap/data-source.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { filesBelow, textOf } from './source-tree.js';

let database: TestDatabase;
let source: DataSource;

beforeAll(async () => {
  database = await createDatabase('migrated');
  source = await dataSource(database.url, 1).initialize();
});

afterAll(async () => {
  await source?.destroy();
  await database?.drop();
});

/** Returns the name, type and nullability of every column of a table, sorted. */
async function columnsInDatabase(table: string): Promise<string[]> {
  const rows: { line: string }[] = await source.query(
    `select concat_ws(' ', column_name, data_type, case is_nullable when 'YES' then 'null' else 'not null' end) as line
     from information_schema.columns where table_schema = 'public' and table_name = $1 order by 1`,
    [table],
  );
  return rows.map(({ line }) => line).sort();
}

async function keyInDatabase(table: string): Promise<string[]> {
  const rows: { name: string }[] = await source.query(
    `select a.attname as name from pg_index i, unnest(i.indkey::int[]) with ordinality as k(attnum, n), pg_attribute a
     where i.indrelid = $1::regclass and i.indisprimary and a.attrelid = i.indrelid and a.attnum = k.attnum order by n`,
    [table],
  );
  return rows.map(({ name }) => name);
}

describe('entities', () => {
  it('are all listed in data-source.ts', () => {
    const declared = filesBelow('src')
      .filter((file) => file.endsWith('.entities.ts'))
      .flatMap((file) => [...textOf(file).matchAll(/^export class (\w+Entity)\b/gm)].map((match) => match[1]));

    expect(ENTITIES.map(({ name }) => name)).toEqual(declared.sort());
  });

  it.each(ENTITIES.map((entity): [string, (typeof ENTITIES)[number]] => [entity.name, entity]))(
    '%s has the columns of its table, with their types and nullability',
    async (_name, entity) => {
      const { tableName, columns } = source.getMetadata(entity);
      const declared = columns.map(
        (column) =>
          `${column.databaseName} ${column.isArray ? 'ARRAY' : source.driver.normalizeType(column)} ${column.isNullable ? 'null' : 'not null'}`,
      );

      expect(declared.sort()).toEqual(await columnsInDatabase(tableName));
    },
  );

  it.each(ENTITIES.map((entity): [string, (typeof ENTITIES)[number]] => [entity.name, entity]))(
    '%s has the primary key of its table, in the same order',
    async (_name, entity) => {
      const { tableName, primaryColumns } = source.getMetadata(entity);

      expect(primaryColumns.map(({ databaseName }) => databaseName)).toEqual(await keyInDatabase(tableName));
    },
  );

  it('match the schema, so that TypeORM would generate no change', async () => {
    const { upQueries } = await source.driver.createSchemaBuilder().log();

    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });
});

describe('tables', () => {
  it("each have an entity, without the partitions and TypeORM's own table", async () => {
    const tables: { name: string }[] = await source.query(
      `select relname as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'migrations'`,
    );

    expect(ENTITIES.map((entity) => source.getMetadata(entity).tableName).sort()).toEqual(
      tables.map(({ name }) => name).sort(),
    );
  });

  it('with an environment have an index that starts with it', async () => {
    const rows: { name: string }[] = await source.query(`
      select c.relname as name from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'environment_id'
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        -- A queue that is folded in the order of its ids, whosever they are.
        and c.relname <> 'rollup_parts'
        -- The audit log is the organization's, and carries that first: part of it belongs to both environments.
        and c.relname !~ '^audit_log'
        and not exists (select from pg_index i where i.indrelid = c.oid and i.indkey[0] = a.attnum)`);
    const tenant: { count: string }[] = await source.query(
      `select count(*) from information_schema.columns where table_schema = 'public' and column_name = 'environment_id'`,
    );

    expect(rows.map(({ name }) => name)).toEqual([]);
    expect(Number(tenant[0]?.count)).toBeGreaterThan(5);
  });
});
