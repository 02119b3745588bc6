import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { generateApiKey } from '../../src/modules/auth/keys/api-key.js';
import { openSql } from '../api/scene.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import type { Program } from '../support/launch.js';
import { type Ended, run } from '../support/program.js';
import { startServer } from '../support/server.js';

const PASSWORD = 'hunter2hunter2';
const AT_ONCE = 5;

describe('a failing start', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'posthorn-failed-'));
  let database: TestDatabase;
  let taken: Server;
  let takenPort: number;
  const ended = new Map<string, Ended>();

  beforeAll(async () => {
    database = await createDatabase();
    taken = createServer((socket) =>
      socket.on('error', () => undefined).end('this is no server of any kind\r\n'),
    ).listen(0, '127.0.0.1');
    await once(taken, 'listening');
    takenPort = (taken.address() as AddressInfo).port;
    // Some starts wait half a minute for a server, so all of them run at the same time.
    const waiting = [...CASES];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) ended.set(next[0], await start(next[1]()));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }, 240_000);

  afterAll(async () => {
    taken.close();
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  /**
   * Runs the service until it exits. Starts it from the packed file, or from separate files if an extension is a
   * package, so that Node.js itself reports a missing package.
   */
  const start = (env: Record<string, string>): Promise<Ended> =>
    run(
      'main',
      {
        PORT: '0',
        HOST: '127.0.0.1',
        DATABASE_URL: database.url,
        MASTER_KEY: randomBytes(32).toString('base64'),
        LOG_LEVEL: 'error',
        ...env,
      },
      [],
      env['EXTENSIONS']?.startsWith('@') ? 'files' : 'pack',
    );

  const urlWith = (change: (url: URL) => void): string => {
    const url = new URL(database.url);
    change(url);
    return url.href;
  };

  /** Creates an extension in a separate folder, with its own dependency, and returns it. */
  const extension = (name: string, code: string, brings?: string): string => {
    const folder = path.join(directory, name);
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'index.mjs'), code);
    if (brings !== undefined) {
      mkdirSync(path.join(folder, 'node_modules', brings), { recursive: true });
      writeFileSync(
        path.join(folder, 'node_modules', brings, 'package.json'),
        JSON.stringify({ name: brings, version: '1.0.0' }),
      );
    }
    return path.join(folder, 'index.mjs');
  };

  /** Returns the code of a valid module without imports. */
  const moduleWith = (body: string): string =>
    `export default class Broker { ${body} }\nReflect.defineMetadata('providers', [], Broker);`;

  const CASES: [string, () => Record<string, string>, RegExp][] = [
    [
      'the port is taken',
      () => ({ PORT: String(takenPort) }),
      /^Port \d+ of 127\.0\.0\.1 is taken by another process: .* PORT\.$/,
    ],
    [
      'the port of the metrics is taken',
      () => ({ METRICS_PORT: String(takenPort) }),
      /^Port \d+ of 127\.0\.0\.1 is taken by another process: .* METRICS_PORT\.$/,
    ],
    [
      'HOST is of another machine',
      () => ({ HOST: '192.0.2.1', PORT: '31999' }),
      /^192\.0\.2\.1 is no address of this machine: correct HOST\.$/,
    ],
    [
      'nothing listens at DATABASE_URL',
      () => ({ DATABASE_URL: `postgres://ann:${PASSWORD}@127.0.0.1:1/orders` }),
      /^Nothing listens at 127\.0\.0\.1:1: .* DATABASE_URL\.$/,
    ],
    [
      'its host has no address',
      () => ({ DATABASE_URL: `postgres://ann:${PASSWORD}@nowhere.invalid/orders` }),
      /^The host nowhere\.invalid in DATABASE_URL .* \(E[A-Z_]+\): correct DATABASE_URL/,
    ],
    // Uses the maintenance database, which checks the password. The suites' databases accept any password
    // (global-setup.mjs).
    [
      'its password is wrong',
      () => ({ DATABASE_URL: urlWith((url) => Object.assign(url, { password: PASSWORD, pathname: '/postgres' })) }),
      /refuses the password of the user postgres: correct it in DATABASE_URL\.$/,
    ],
    [
      'its user does not exist',
      () => ({ DATABASE_URL: urlWith((url) => (url.username = 'nobody')) }),
      /(refuses the password of the user|rejects the user) nobody/,
    ],
    [
      'its database does not exist',
      () => ({ DATABASE_URL: urlWith((url) => (url.pathname = '/nothing')) }),
      /has no database nothing: create it, or correct DATABASE_URL\.$/,
    ],
    [
      'it asks for TLS that the server does not speak',
      () => ({ DATABASE_URL: urlWith((url) => url.searchParams.set('sslmode', 'verify-full')) }),
      /does not speak TLS: take sslmode out of DATABASE_URL/,
    ],
    [
      'it names a certificate that is not there',
      () => ({ DATABASE_URL: urlWith((url) => url.searchParams.set('sslrootcert', '/nothing/ca.pem')) }),
      /^DATABASE_URL names the file \/nothing\/ca\.pem, which can't be read \(ENOENT\)/,
    ],
    [
      'its password has "#" in it',
      () => ({ DATABASE_URL: `postgres://ann:${PASSWORD}#two@127.0.0.1:1/orders` }),
      /^DATABASE_URL has a character .* percent-encode it there \(%40 for @, %23 for #/,
    ],
    [
      'its password has "@" and "#" in it',
      () => ({ DATABASE_URL: `postgres://ann:hun@${PASSWORD}#two@127.0.0.1:1/orders` }),
      /^DATABASE_URL has a character .* percent-encode it there/,
    ],
    [
      'its password looks like a port and a path',
      () => ({ DATABASE_URL: `postgres://ann:1234/${PASSWORD}@127.0.0.1:1/orders` }),
      /^DATABASE_URL has a character .* percent-encode it there/,
    ],
    [
      'its password has "@" in it, and nothing listens there',
      () => ({ DATABASE_URL: `postgres://ann:${PASSWORD}@${PASSWORD}@127.0.0.1:1/orders` }),
      /^Nothing listens at 127\.0\.0\.1:1: /,
    ],
    [
      'the password of DATABASE_DIRECT_URL has "#" in it',
      () => ({ DATABASE_DIRECT_URL: `postgres://ann:12#${PASSWORD}@127.0.0.1:1/orders` }),
      /^DATABASE_DIRECT_URL has a character .* percent-encode it there/,
    ],
    [
      'the password of Redis has "@" and "#" in it',
      () => ({ REDIS_URL: `redis://:hun@${PASSWORD}#two@127.0.0.1:1` }),
      /^REDIS_URL has a character .* percent-encode it there/,
    ],
    [
      'the password of the mail server has "#" in it',
      () => ({ EMAIL_TRANSPORT: `smtp://ann:12#${PASSWORD}@127.0.0.1:1` }),
      /^EMAIL_TRANSPORT has a character .* percent-encode it there/,
    ],
    [
      'BOOTSTRAP_API_KEY has a line break in it',
      () => ({ BOOTSTRAP_API_KEY: `ek_live_${PASSWORD}\n${PASSWORD}` }),
      /^BOOTSTRAP_API_KEY must be ek_live_/,
    ],
    [
      'METRICS_TOKEN has a line break in it',
      () => ({ METRICS_TOKEN: `${PASSWORD}\r\n${PASSWORD}` }),
      /^METRICS_TOKEN contains a line break/,
    ],
    [
      'Redis is away',
      () => ({ REDIS_URL: `redis://:${PASSWORD}@127.0.0.1:1` }),
      /^Redis at 127\.0\.0\.1:1 does not answer \(ECONNREFUSED\): start it, or correct REDIS_URL\.$/,
    ],
    [
      'DATA_DIR cannot be written to',
      () => ({ DATABASE_URL: '', MASTER_KEY: '', DATA_DIR: '/proc/posthorn' }),
      /^DATA_DIR \/proc\/posthorn can't be written to \(E[A-Z]+ at \S+\): make it writable for this user, or set another one\.$/,
    ],
    [
      'DATA_DIR is below a file',
      () => ({ DATABASE_URL: '', MASTER_KEY: '', DATA_DIR: `${extension('file', '')}/data` }),
      /^DATA_DIR \S+ can't be written to \(E[A-Z]+ at \S+\)/,
    ],
    ['ROLE is none', () => ({ ROLE: 'boss' }), /^ROLE must be one of api, worker, smtp, all, not "boss"\.$/],
    [
      'an extension is not there',
      () => ({ EXTENSIONS: '@acme/posthorn-nothing' }),
      /^EXTENSIONS names @acme\/posthorn-nothing, which cannot be loaded: /,
    ],
    [
      'an extension throws',
      () => ({ EXTENSIONS: extension('throws', `throw new Error('no licence\\nat all');`) }),
      /which cannot be loaded: no licence$/,
    ],
    [
      'an extension brings @nestjs/common',
      () => ({ EXTENSIONS: extension('nest', 'export default class A {}', '@nestjs/common') }),
      /a second copy of @nestjs\/common \(\S+\)\. Name it under peerDependencies/,
    ],
    [
      'an extension brings reflect-metadata',
      () => ({ EXTENSIONS: extension('reflect', 'export default class A {}', 'reflect-metadata') }),
      /a second copy of reflect-metadata \(\S+\)\. Name it under peerDependencies/,
    ],
    [
      'an extension brings typeorm',
      () => ({ EXTENSIONS: extension('typeorm', 'export default class A {}', 'typeorm') }),
      /a second copy of typeorm \(\S+\)\. Name it under peerDependencies/,
    ],
    [
      'an extension is no module',
      () => ({ EXTENSIONS: extension('plain', 'export default class A {}') }),
      /^EXTENSIONS names \S+, which has no Nest module as its default export: A carries neither/,
    ],
    [
      'an extension fails when it is made',
      () => ({ EXTENSIONS: extension('made', moduleWith(`constructor() { throw new Error('no broker'); }`)) }),
      /^The extension Broker \(\S+made\/index\.mjs\) failed: no broker$/,
    ],
    [
      'an extension fails when it starts',
      () => ({
        BOOTSTRAP_API_KEY: generateApiKey('live', randomBytes(32)),
        EXTENSIONS: extension(
          'starts',
          `import net from 'node:net';\n${moduleWith(`onModuleInit() { return new Promise((_, no) => net.connect(1, '127.0.0.1').on('error', no)); }`)}`,
        ),
      }),
      /^The extension Broker \(\S+starts\/index\.mjs\) failed: connect ECONNREFUSED 127\.0\.0\.1:1$/,
    ],
    [
      'a factory of an extension loses its connection',
      () => ({
        EXTENSIONS: extension(
          'factory',
          `import net from 'node:net';\n${moduleWith('')}\nconst make = () => new Promise((_, no) => net.connect(1, '127.0.0.1').on('error', no));\nReflect.defineMetadata('providers', [{ provide: 'CONNECTION', useFactory: make }], Broker);`,
        ),
      }),
      /^The extension Broker \(\S+factory\/index\.mjs\) failed: connect ECONNREFUSED 127\.0\.0\.1:1$/,
    ],
    [
      'a class of an extension asks for what there is not',
      () => ({
        EXTENSIONS: extension(
          'asks',
          `class Nothing {}\n${moduleWith('')}\nReflect.defineMetadata('design:paramtypes', [Nothing], Broker);`,
        ),
      }),
      /^The extension Broker \(\S+asks\/index\.mjs\) failed: Nest can't resolve dependencies of the Broker/,
    ],
  ];

  it.each(CASES)('because %s exits with code 1 and one line', (what, _env, line) => {
    const { code, out, err } = ended.get(what) as Ended;

    expect({ code, out }).toEqual({ code: 1, out: '' });
    const said = /^Posthorn did not start: ([^\n]+)\n$/.exec(err)?.[1] ?? err;
    expect(said).toMatch(line);
    expect(err).not.toContain(PASSWORD);
    expect(err.split('\n')).toHaveLength(2);
  });

  it.each<[Program, string[]]>([
    ['create-admin-key', []],
    ['orgs', ['list']],
    ['dns', []],
    ['mail-reports', []],
    ['rotate-master-key', []],
    ['backup', ['file']],
    ['restore', ['file']],
  ])('%s reports an error in DATABASE_URL in one line, without the password', async (program, args) => {
    const env = {
      DATABASE_URL: `postgres://ann:hun@${PASSWORD}#two@127.0.0.1:1/orders`,
      MASTER_KEY: randomBytes(32).toString('base64'),
    };

    const { code, out, err } = await run(program, env, args);

    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^(?:[^\n]+: )?DATABASE_URL has a character [^\n]+percent-encode it there[^\n]+\n$/);
    expect(err).not.toMatch(/hun|two/);
  });

  it('because PostgreSQL is too old exits with code 1 and one line', async () => {
    const old = await createDatabase();
    const sql = openSql({ databaseUrl: old.url });
    const name = new URL(old.url).pathname.slice(1);
    // A server that reports version 14 to the service's query.
    await sql.rows(
      `create function public.current_setting(text) returns text language sql as $$ select case $1 when 'server_version_num' then '140009' else pg_catalog.current_setting($1) end $$`,
    );
    await sql.rows(`alter database ${name} set search_path = public, pg_catalog`);
    await sql.close();

    const { code, err } = await start({ DATABASE_URL: old.url });
    await old.drop();

    expect({ code, err }).toEqual({
      code: 1,
      err: 'Posthorn did not start: DATABASE_URL leads to PostgreSQL 14, which is too old: Posthorn needs 15 or newer.\n',
    });
  });

  it('because the port is taken creates no keys: the next start prints them', async () => {
    const fresh = await createDatabase();
    const env = { DATABASE_URL: fresh.url, MASTER_KEY: randomBytes(32).toString('base64'), BOOTSTRAP_API_KEY: '' };
    const first = await start({ ...env, PORT: String(takenPort) });

    const server = await startServer(env);

    expect(first.code).toBe(1);
    expect(first.out).not.toContain('ek_live_');
    expect(server.logs()).toMatch(/^Live admin key: ek_live_\w+$/m);
    await server.stop();
    await fresh.drop();
  });
});
