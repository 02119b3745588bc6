import type { DataSource } from 'typeorm';
import { dataSource, MIGRATIONS } from '../../src/data-source.js';
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

describe('migrations', () => {
  it('are all named in data-source.ts', () => {
    const stamps = filesBelow('migrations').map((file) => /(\d+)-[a-z-]+\.ts$/.exec(file)?.[1] ?? file);

    expect(MIGRATIONS.map(({ name }) => /\d+$/.exec(name)?.[0] ?? name)).toEqual(stamps);
  });

  it('go down one by one, and each makes the same again when it goes up', async () => {
    const whole = await schemaOf(source);
    expect(whole.length).toBeGreaterThan(100);

    const stages = [whole];
    for (const { name } of [...MIGRATIONS].reverse()) {
      await source.undoLastMigration();
      const below = await schemaOf(source);
      const [redone] = await source.runMigrations().then((done) => done.slice(0, 1));
      expect(redone?.name).toBe(name);
      // Whatever was undone before is made again here too, so the whole stands as at first.
      expect({ name, schema: await schemaOf(source) }).toEqual({ name, schema: whole });
      for (let i = 0; i < stages.length; i += 1) await source.undoLastMigration();
      expect({ name, schema: await schemaOf(source) }).toEqual({ name, schema: below });
      stages.push(below);
    }
    expect(stages.at(-1)).toEqual([]);

    await source.runMigrations();
    expect(await schemaOf(source)).toEqual(whole);
  });
});
