import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { as } from '../api/answers.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { run } from '../support/program.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

const keyIn = (text: string): string => /^(?:Live|Test) admin key: (ek_\w+)$/m.exec(text)?.[1] ?? '';

describe('create-admin-key', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase();
  });

  afterAll(() => database.drop());

  const environmentOf = async (server: PosthornServer, key: string): Promise<string> =>
    (await server.api('GET', '/v1/org', undefined, as(key))).json.environment;

  it('creates a live or a test admin key of the first organization beside a running service', async () => {
    const server = await startServer({ DATABASE_URL: database.url });

    const [live, test] = [
      await run('create-admin-key', server.env),
      await run('create-admin-key', server.env, ['--env', 'test']),
    ];

    expect([live, test]).toMatchObject([
      { code: 0, err: '' },
      { code: 0, err: '' },
    ]);
    expect(await environmentOf(server, keyIn(live.out))).toBe('live');
    expect(await environmentOf(server, keyIn(test.out))).toBe('test');
    const { json } = await server.api('GET', '/v1/keys', undefined, as(keyIn(live.out)));
    expect(json.data[0]).toMatchObject({
      name: 'Made by create-admin-key',
      scope: 'admin',
      source: 'bootstrap',
      expires_at: null,
    });
    const audit = await server.api(
      'GET',
      '/v1/audit?action=posthorn%20create-admin-key',
      undefined,
      as(keyIn(live.out)),
    );
    expect(audit.json.data).toMatchObject([
      {
        actor: { kind: 'operator' },
        resource_type: 'keys',
        resource_id: json.data[0].id,
        after: { name: 'Made by create-admin-key', scope: 'admin', prefix: json.data[0].prefix },
      },
    ]);
    await server.stop();
  });

  it('works with the embedded database, while the service runs and while it is stopped, and the first start prints the command', async () => {
    const dataDir = path.join(process.env['POSTHORN_TEST_DIR'] ?? '', `admin-key-${process.pid}`);
    const env = { DATABASE_URL: '', MASTER_KEY: '', BOOTSTRAP_API_KEY: '', DATA_DIR: dataDir };
    const before = await run('create-admin-key', env);
    const server = await startServer(env);

    const beside = await run('create-admin-key', env);
    const isAccepted = await environmentOf(server, keyIn(beside.out));
    await server.stop();
    const stopped = await run('create-admin-key', env);
    const again = await startServer(env);

    expect(before).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^No admin key was made: There is no database in DATA_DIR \S+: start Posthorn[^\n]+\n$/,
      ),
    });
    expect(server.logs()).toContain('`npm run create-admin-key` makes another one.');
    expect([beside.code, stopped.code, isAccepted]).toEqual([0, 0, 'live']);
    expect(await environmentOf(again, keyIn(stopped.out))).toBe('live');
    await again.stop();
  }, 180_000);

  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['an unknown environment', ['--env', 'staging'], {}, /The only option is --env live or --env test/],
    ['an unknown option', ['--org', 'x'], {}, /The only option is --env live or --env test/],
    [
      'a database address without a server',
      [],
      { DATABASE_URL: 'postgres://ann:hunter2hunter2@127.0.0.1:1/orders' },
      /Nothing listens at 127\.0\.0\.1:1/,
    ],
  ])(
    'rejects %s in one line',
    async (_what, args, env, line) => {
      const { code, out, err } = await run(
        'create-admin-key',
        { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64'), ...env },
        args,
      );

      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^No admin key was made: [^\n]+\n$/);
      expect(err).toMatch(line);
      expect(err).not.toContain('hunter2');
    },
    60_000,
  );

  it('rejects a database on which the service was never started', async () => {
    const fresh = await createDatabase();

    const { code, err } = await run('create-admin-key', {
      DATABASE_URL: fresh.url,
      MASTER_KEY: randomBytes(32).toString('base64'),
    });

    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('Posthorn has not been started on this database yet'),
    });
    await fresh.drop();
  });
});
