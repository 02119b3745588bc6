import { randomBytes } from 'node:crypto';
import { VERSION } from '../../src/kernel/version.js';
import { generateApiKey } from '../../src/modules/auth/keys/api-key.js';
import { as, expectRefusal } from '../api/answers.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

const KEY_LINES = /^(Live|Test) admin key: (ek_(?:live|test)_[0-9A-Za-z]{49})$/gm;

/** Database URL at which no server listens. A start that is rejected before it connects never uses the URL. */
const NO_DATABASE = 'postgres://nobody:hunter2@127.0.0.1:1/nothing';

interface Key {
  id: string;
  source: string;
  prefix: string;
}

describe('first start', () => {
  let database: TestDatabase;
  let servers: PosthornServer[];

  beforeEach(async () => {
    database = await createDatabase();
    servers = [];
  });

  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await database.drop();
  });

  const masterKey = randomBytes(32).toString('base64');

  async function start(env: Record<string, string>): Promise<PosthornServer> {
    const server = await startServer({ DATABASE_URL: database.url, MASTER_KEY: masterKey, ...env });
    servers.push(server);
    return server;
  }

  async function restart(env: Record<string, string>): Promise<PosthornServer> {
    await servers.pop()?.stop();
    return start(env);
  }

  /** Returns the mode and the text of each key in a server's output. */
  function printedKeys(...running: PosthornServer[]): [string, string][] {
    const lines = running.flatMap((server) => [...server.logs().matchAll(KEY_LINES)]);
    return lines.map(([, mode = '', key = '']) => [mode, key]);
  }

  const org = (server: PosthornServer, key: string): Promise<ApiAnswer> =>
    server.api('GET', '/v1/org', undefined, as(key));

  async function keysOf(server: PosthornServer, key: string): Promise<Key[]> {
    return (await server.api('GET', '/v1/keys', undefined, as(key))).json.data;
  }

  it('prints one live and one test admin key, whatever LOG_LEVEL says, and never again', async () => {
    const first = await start({ BOOTSTRAP_API_KEY: '', LOG_LEVEL: 'silent' });

    const printed = printedKeys(first);
    expect(printed.map(([mode]) => mode)).toEqual(['Live', 'Test']);
    for (const [mode, key] of printed) {
      expect(key).toMatch(new RegExp(`^ek_${mode.toLowerCase()}_`));
      expect((await org(first, key)).json.environment).toBe(mode.toLowerCase());
      expect(await keysOf(first, key)).toEqual([
        expect.objectContaining({ scope: 'admin', source: 'bootstrap', prefix: key.slice(0, 12) }),
      ]);
    }
    expect(first.logs()).toMatch(/^Posthorn is listening on http:\/\/127\.0\.0\.1:\d+$/m);
    expect(first.logs()).toMatch(/^Swagger UI: http:\/\/localhost:\d+\/docs$/m);

    const second = await restart({ BOOTSTRAP_API_KEY: '', LOG_LEVEL: 'trace' });
    expect(second.logs()).toContain(`"msg":"Posthorn ${VERSION} starts."`);
    expect(second.logs()).not.toMatch(/ek_(live|test)_/);
    expect((await org(second, printed[0]?.[1] ?? '')).status).toBe(200);
  });

  it('of two nodes that start at once on an empty database, one creates the organization and its keys', async () => {
    const both = await Promise.all([start({ BOOTSTRAP_API_KEY: '' }), start({ BOOTSTRAP_API_KEY: '' })]);

    const printed = printedKeys(...both);
    expect(printed.map(([mode]) => mode)).toEqual(['Live', 'Test']);
    const seen = await Promise.all(both.flatMap((server) => printed.map(([, key]) => org(server, key))));
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(seen.map(({ json }) => json.id)).size).toBe(1);
  });

  it('BOOTSTRAP_API_KEY becomes an admin key once, and no key is printed', async () => {
    const bootstrap = generateApiKey('live', randomBytes(32));
    const first = await start({ BOOTSTRAP_API_KEY: bootstrap });
    const made = await keysOf(first, bootstrap);

    const again = await restart({ BOOTSTRAP_API_KEY: bootstrap });

    const expected = { scope: 'admin', source: 'bootstrap', environment: 'live', prefix: bootstrap.slice(0, 12) };
    expect(made).toEqual([expect.objectContaining(expected)]);
    expect((await keysOf(again, bootstrap)).map(({ id }) => id)).toEqual(made.map(({ id }) => id));
    expect(printedKeys(first, again)).toEqual([]);
    expect(first.logs() + again.logs()).not.toContain(bootstrap);
  });

  it('another BOOTSTRAP_API_KEY is added to the same organization; it may be any 20 letters and digits', async () => {
    const [live, test] = [`ek_live_${randomBytes(10).toString('hex')}`, generateApiKey('test', randomBytes(32))];
    const before = await org(await start({ BOOTSTRAP_API_KEY: live }), live);

    const server = await restart({ BOOTSTRAP_API_KEY: test });

    expect((await org(server, live)).json).toEqual(before.json);
    expect((await org(server, test)).json).toMatchObject({ id: before.json.id, environment: 'test' });
  });

  it('a revoked BOOTSTRAP_API_KEY stays revoked', async () => {
    const bootstrap = generateApiKey('live', randomBytes(32));
    const first = await start({ BOOTSTRAP_API_KEY: bootstrap });
    const [key] = await keysOf(first, bootstrap);
    // The last admin key cannot be revoked, so another admin key is created first.
    await first.api('POST', '/v1/keys', { name: 'Another', scope: 'admin' }, as(bootstrap));
    expect((await first.api('DELETE', `/v1/keys/${key?.id}`, undefined, as(bootstrap))).status).toBe(204);

    const again = await restart({ BOOTSTRAP_API_KEY: bootstrap });

    expectRefusal(await org(again, bootstrap), 401);
  });
});

describe('a bad configuration', () => {
  it.each<[string, string]>([
    ['PORT', 'http'],
    ['BASE_URL', 'hooks.example.com'],
    ['DATABASE_URL', 'mysql://root:hunter2@localhost/posthorn'],
    ['REDIS_URL', 'localhost:6379'],
    ['ROLE', 'boss'],
    ['MASTER_KEY', 'hunter2hunter2'],
    ['MASTER_KEY', ''],
    ['BOOTSTRAP_API_KEY', 'hunter2'],
    ['EGRESS_ALLOW_CIDRS', '10.0.0.0'],
    ['RATE_LIMIT_KEY', '100'],
    ['LOG_LEVEL', 'loud'],
  ])('the start fails with one line that names the invalid variable: %s=%s', async (name, value) => {
    const start = startServer({ DATABASE_URL: NO_DATABASE, [name]: value });

    const error: unknown = await start.then(
      (server) => server.stop(),
      (reason: unknown) => reason,
    );
    const { message } = error as Error;
    const [first, ...lines] = message.trimEnd().split('\n');
    expect(first).toBe('Posthorn ended with code 1. It wrote:');
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^Posthorn did not start: ${name}[ =].+(?:\\.|>> \\.env)$`)),
    ]);
    expect(message).not.toContain('hunter2');
  });

  it('a database that the server does not have stops the start with one line', async () => {
    const database = await createDatabase();
    await database.drop();

    const error: unknown = await startServer({ DATABASE_URL: database.url }).then(
      (server) => server.stop(),
      (reason: unknown) => reason,
    );

    const [, ...lines] = (error as Error).message.trimEnd().split('\n');
    const { host, pathname } = new URL(database.url);
    expect(lines).toEqual([
      `Posthorn did not start: PostgreSQL at ${host} has no database ${pathname.slice(1)}: create it, or correct DATABASE_URL.`,
    ]);
  });
});
