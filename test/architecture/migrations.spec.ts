import type { DataSource } from 'typeorm';
import { dataSource, MIGRATIONS } from '../../src/bootstrap/data-source.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { schemaOf } from './schema.js';
import { filesBelow } from './source-tree.js';

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

/**
 * A check constraint that a down migration restores is NOT VALID, because existing rows are not checked. The up
 * migration creates the same constraint as valid, so both are equal here.
 */
const checked = (schema: readonly string[]): string[] => schema.map((line) => line.replace(/ NOT VALID$/, ''));

describe('migrations', () => {
  it('are all listed in data-source.ts', () => {
    const stamps = filesBelow('migrations').map((file) => /(\d+)-[a-z-]+\.ts$/.exec(file)?.[1] ?? file);

    expect(MIGRATIONS.map(({ name }) => /\d+$/.exec(name)?.[0] ?? name)).toEqual(stamps);
  });

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

    // Runs each migration again from the schema that its revert left, and reverts it once more from the schema that it
    // created.
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
});
