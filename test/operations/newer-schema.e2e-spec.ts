import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openSql, type Sql } from '../api/scene.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import type { Program } from '../support/launch.js';
import { type Ended, run } from '../support/program.js';
import { ROOT, startServer } from '../support/server.js';

const NEWEST = 'Later1999999999999';
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };

describe('a database that a newer version has migrated', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-newer-'));
  const masterKey = randomBytes(32).toString('base64');
  let database: TestDatabase;
  let sql: Sql;

  beforeAll(async () => {
    database = await createDatabase();
    sql = openSql({ databaseUrl: database.url });
  });

  afterAll(async () => {
    await sql?.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const runHere = (
    program: Program,
    args: readonly string[],
    env: Record<string, string> = {},
    source?: 'files',
  ): Promise<Ended> =>
    run(
      program,
      {
        PORT: '0',
        HOST: '127.0.0.1',
        DATABASE_URL: database.url,
        MASTER_KEY: masterKey,
        LOG_LEVEL: 'error',
        PLATFORM_DOMAIN: 'hooks.example.com',
        ...env,
      },
      args,
      source,
    );

  describe('by migrations of Posthorn', () => {
    let schema: unknown;

    beforeAll(async () => {
      await sql.rows(
        `insert into migrations (timestamp, name) values (1999999999998, 'Soon1999999999998'), (1999999999999, $1)`,
        [NEWEST],
      );
      schema = await sql.rows('select timestamp, name from migrations order by id');
    });

    afterAll(() => sql.rows('delete from migrations where timestamp > 1999999999990'));

    it.each<[string, Program, readonly string[], Record<string, string>]>([
      ['a start', 'main', [], {}],
      ['a start of several processes', 'main', [], { PROCESSES: '2' }],
      ['posthorn migrate', 'migrate-database', [], {}],
      ['posthorn create-admin-key', 'create-admin-key', [], {}],
      ['posthorn orgs', 'orgs', ['list'], {}],
      ['posthorn dns', 'dns', [], {}],
      ['posthorn mail-reports', 'mail-reports', [], {}],
      ['posthorn confirm-clock', 'confirm-clock', [], {}],
      ['posthorn rotate-master-key', 'rotate-master-key', [], { NEW_MASTER_KEY: randomBytes(32).toString('base64') }],
    ])(
      '%s rejects it with one line that names the unknown migration and this build, and changes nothing',
      async (_, program, args, env) => {
        const { code, out, err } = await runHere(program, args, env);

        expect({ code, out }).toEqual({ code: 1, out: '' });
        expect(err.split('\n')).toHaveLength(2);
        expect(err).toContain(
          `it has the migration ${NEWEST} and 1 more, which Posthorn ${version} does not contain (its newest is `,
        );
        expect(err).not.toContain(masterKey);
        expect(await sql.rows('select timestamp, name from migrations order by id')).toEqual(schema);
      },
      120_000,
    );
  });

  it('by migrations of an extension: a start rejects it and names the extension', async () => {
    const file = path.join(folder, 'broker.mjs');
    // An extension without package imports: it calls the decorator that `posthorn` exports.
    writeFileSync(
      file,
      `
      import { Extension } from ${JSON.stringify(path.join(ROOT, 'dist/src/extension/index.js'))};
      export class BrokerThings1700000000000 { name = 'BrokerThings1700000000000'; async up(runner) { await runner.query('create table broker_things (id int)'); } async down() {} }
      class Broker {}
      Extension({ name: 'broker', migrations: [BrokerThings1700000000000] })(Broker);
      Reflect.defineMetadata('providers', [], Broker);
      export default Broker;
    `,
    );
    const env = { EXTENSIONS: file };
    const migrated = await runHere('migrate-database', [], env, 'files');
    await sql.rows(`insert into broker_migrations (timestamp, name) values (1999999999999, $1)`, [NEWEST]);

    const { code, err } = await runHere('main', [], env, 'files');

    expect(migrated).toMatchObject({ code: 0, err: '' });
    expect({ code, err }).toEqual({
      code: 1,
      err:
        `Posthorn did not start: The database was migrated by a newer version: it has the migration ${NEWEST}, which the installed version of the extension broker ` +
        'does not contain (its newest is BrokerThings1700000000000). Start the newer version, or restore a backup from before the upgrade.\n',
    });
  });

  it('while a process of the older version runs: that process continues, as a rolling upgrade needs', async () => {
    const server = await startServer({ DATABASE_URL: database.url, MASTER_KEY: masterKey });
    try {
      await sql.rows('insert into migrations (timestamp, name) values (1999999999999, $1)', [NEWEST]);

      const destination = await server.api('POST', '/v1/destinations', { name: 'orders', type: 'pull' });
      const sent = await server.api('POST', '/v1/send', {
        destination: destination.json.id,
        event_type: 'order.paid',
        payload: {},
      });

      expect([destination.status, sent.status, (await server.api('GET', '/health/ready')).status]).toEqual([
        201, 202, 200,
      ]);
    } finally {
      await sql.rows('delete from migrations where timestamp > 1999999999990');
      await server.stop();
    }
  });
});
