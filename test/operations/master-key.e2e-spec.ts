import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../api/polling.js';
import type { Sql, TargetPath, Targets } from '../api/scene.js';
import { destinationAt, expectStatus, openSql, send, startTargets, WITHIN_MS } from '../api/scene.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabase } from '../support/database.js';
import { type Ended, run } from '../support/program.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

const newKey = (): string => randomBytes(32).toString('base64');

/** Runs `rotate-master-key` in the environment of a server, and returns the output. */
const rotate = (env: Readonly<Record<string, string>>, next?: string): Promise<Ended> =>
  run('rotate-master-key', { ...env, ...(next === undefined ? {} : { NEW_MASTER_KEY: next }) });

describe('the master key', () => {
  let database: TestDatabase;
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    database = await createDatabase();
    [server, targets] = await Promise.all([startServer({ DATABASE_URL: database.url }), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
    await database.drop();
  });

  async function header(from: PosthornServer, target: TargetPath, destination: string): Promise<unknown> {
    const before = target.posts().length;
    await send(from, destination);
    return (await target.arrived(before + 1)).at(-1)?.headers['x-a'];
  }

  const secretOf = async (from: PosthornServer, id: string): Promise<string> =>
    expectStatus(await from.api('GET', `/v1/destinations/${id}/secret`), 200).json.secret;

  it('that does not match the database stops the start with one line, and is not printed', async () => {
    const wrong = newKey();

    const error: unknown = await startServer({ ...server.env, MASTER_KEY: wrong }).then(
      (other) => other.stop(),
      (reason: unknown) => reason,
    );

    const [first, ...lines] = (error as Error).message.trimEnd().split('\n');
    expect(first).toBe('Posthorn ended with code 1. It wrote:');
    expect(lines).toEqual([expect.stringMatching(/^Posthorn did not start: MASTER_KEY is not the one .+\.$/)]);
    expect(lines.join()).not.toContain(wrong);
  });

  it('creates one pair of data keys when several first starts run at once', async () => {
    const fresh = await createDatabase();
    const env = { ...server.env, DATABASE_URL: fresh.url };

    const started = await Promise.all(Array.from({ length: 3 }, () => startServer(env)));

    const its = openSql({ databaseUrl: fresh.url });
    expect(await its.rows('select id from data_keys order by id')).toEqual([{ id: 0 }, { id: 1 }]);
    await its.close();
    for (const each of started) await each.stop();
    await fresh.drop();
  });

  type Given = (env: Readonly<Record<string, string>>) => [Readonly<Record<string, string>>, string | undefined];
  const REFUSED: [string, Given, RegExp][] = [
    ['without a new one', (env) => [env, undefined], /NEW_MASTER_KEY is required/],
    [
      'with a new one that is none',
      (env) => [env, 'hunter2hunter2'],
      /NEW_MASTER_KEY must be 32 bytes .* has 14 characters\.$/,
    ],
    ['with the same one', (env) => [env, env['MASTER_KEY']], /NEW_MASTER_KEY is the same/],
    [
      'from one that was never in force',
      (env) => [{ ...env, MASTER_KEY: newKey() }, newKey()],
      /MASTER_KEY is not the one/,
    ],
  ];

  it('is not rotated without a valid new one, or from one that is not in force: one line, code 1, no change', async () => {
    const before = await sql.rows('select id, wrapped from data_keys order by id');

    const refusals = await Promise.all(
      REFUSED.map(async ([what, given]) => ({ what, ...(await rotate(...given(server.env))) })),
    );

    for (const [i, { what, code, out, err }] of refusals.entries()) {
      expect([what, code, out]).toEqual([what, 1, '']);
      expect(err.trimEnd()).toMatch(/^The master key was not rotated: [^\n]+$/);
      expect(err.trimEnd()).toMatch(REFUSED[i]?.[2] as RegExp);
      expect(err).not.toContain('hunter2');
    }
    expect(await sql.rows('select id, wrapped from data_keys order by id')).toEqual(before);
  });

  // After this test, the environment of `server` has an outdated master key.
  it('is rotated under a running fleet: no data is lost, old and new processes are compatible, and cursors stay valid', async () => {
    const target = targets.open();
    const { id: secretId } = expectStatus(
      await server.api('POST', '/v1/secrets', { name: 'TOKEN', value: 'first' }),
      201,
    ).json;
    const destination = await destinationAt(server, target.url, { headers: { 'x-a': '{{secrets.TOKEN}}' } });
    await destinationAt(server, target.url);
    const signing = await secretOf(server, destination);
    const { next_cursor: cursor } = (await server.api('GET', '/v1/destinations?limit=1')).json;
    const next = newKey();

    const ended = await rotate(server.env, next);
    const repeated = await rotate(server.env, next);
    const restarted = await startServer({ ...server.env, MASTER_KEY: next });

    try {
      expect(ended).toMatchObject({ code: 0, err: '' });
      expect(ended.out).toMatch(/^Every data key is wrapped with the new master key, and data key 2 was added/);
      expect(ended.out).not.toContain(next);
      expect(repeated).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringMatching(/^The data keys are wrapped with NEW_MASTER_KEY already\./),
      });
      expect(await sql.rows('select id from data_keys order by id')).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }]);
      expect(
        await sql.rows("select actor_kind, before, after from audit_log where action = 'posthorn rotate-master-key'"),
      ).toEqual([{ actor_kind: 'operator', before: null, after: { data_key: 2 } }]);
      // Both servers can read values that were encrypted before the rotation.
      for (const each of [server, restarted]) {
        expect(await secretOf(each, destination)).toBe(signing);
        expect(await header(each, target, destination)).toBe('first');
        expectStatus(await each.api('GET', `/v1/destinations?limit=1&cursor=${cursor}`), 200);
      }
      // Both servers now have the new data key, so each can read values that the other one encrypts.
      expectStatus(await restarted.api('PUT', `/v1/secrets/${secretId}`, { value: 'second' }), 200);
      await until(
        () => header(server, target, destination),
        (value) => value === 'second',
        WITHIN_MS,
      );
      const rotated = expectStatus(await server.api('POST', `/v1/destinations/${destination}/secret/rotate`, {}), 200)
        .json.secret;
      expect(await secretOf(restarted, destination)).toBe(rotated);
      const [row] = await sql.rows<{ value: Buffer; secret: Buffer }>(
        "select value, secret from secrets, destinations where headers <> '{}'",
      );
      expect([row?.value.subarray(0, 5).toString('hex'), row?.secret.subarray(0, 5).toString('hex')]).toEqual([
        '0200000002',
        '0200000002',
      ]);
      // The old key can no longer decrypt any value.
      await expect(startServer(server.env)).rejects.toThrow('MASTER_KEY is not the one');
    } finally {
      await restarted.stop();
    }
  });
});

describe('a master key', () => {
  it('that sealed values before data keys existed opens them after the upgrade, and a wrong key is rejected first', async () => {
    const database = await createDatabase();
    const server = await startServer({ DATABASE_URL: database.url });
    const sql = openSql(server);
    await server.kill('SIGKILL');
    const [row] = await sql.rows<{ id: number }>('select id from environments order by id limit 1');
    // Creates the state that the previous release stored: the signing secret is encrypted with a key derived from the
    // master key (format 1), and there are no data keys.
    const key = Buffer.from(
      hkdfSync('sha256', Buffer.from(server.env['MASTER_KEY'] as string, 'base64'), '', 'posthorn vault v1', 32),
    );
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: 16 }).setAAD(
      Buffer.from(`environments|${row?.id}||secret`),
    );
    const ciphertext = Buffer.concat([cipher.update(Buffer.alloc(32, 5)), cipher.final()]);
    await sql.rows('update environments set secret = $2 where id = $1', [
      row?.id,
      Buffer.concat([Buffer.of(1), iv, cipher.getAuthTag(), ciphertext]),
    ]);
    await sql.rows('delete from data_keys');

    await expect(startServer({ ...server.env, MASTER_KEY: newKey() })).rejects.toThrow('MASTER_KEY is not the one');
    expect(await sql.rows('select id from data_keys')).toEqual([]);
    const upgraded = await startServer(server.env);

    expect((await upgraded.api('GET', '/v1/signing-secret')).json.secret).toBe(
      `whsec_${Buffer.alloc(32, 5).toString('base64')}`,
    );
    await upgraded.stop();
    await sql.close();
    await database.drop();
  });
});

describe('the master key of an embedded installation', () => {
  const dataDir = path.join(process.env['POSTHORN_TEST_DIR'] ?? '', `embedded-${process.pid}`);
  const file = path.join(dataDir, 'master.key');
  const env = { DATABASE_URL: '', MASTER_KEY: '', DATA_DIR: dataDir };
  const keyInFile = (): string => readFileSync(file, 'utf8').trim();

  it('is rotated in its file while the service is stopped, and an interrupted rotation is completed by the next one', async () => {
    const server = await startServer(env);
    const { id } = expectStatus(await server.api('POST', '/v1/destinations', { name: 'A', type: 'pull' }), 201).json;
    const secret = (from: PosthornServer): Promise<string> =>
      from.api('GET', `/v1/destinations/${id}/secret`).then(({ json }) => json.secret);
    const [before, first] = [keyInFile(), await secret(server)];

    const refused = await rotate(server.env);
    await server.stop();
    const ended = await rotate(server.env);
    const after = keyInFile();
    const again = await startServer(server.env);
    const second = await secret(again);
    await again.stop();
    // Simulates a crash right before the key file was replaced: the database already needs the new key, which is still
    // in the file with the suffix `.next`.
    renameSync(file, `${file}.next`);
    writeFileSync(file, before, { mode: 0o600 });
    const recovered = await rotate(server.env);

    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('is in use by another Posthorn') });
    expect(ended).toMatchObject({ code: 0, err: '', out: expect.stringContaining('start Posthorn again') });
    expect(after).not.toBe(before);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(second).toBe(first);
    expect(recovered).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('that was interrupted is complete'),
    });
    expect(keyInFile()).toBe(after);
    expect(existsSync(`${file}.next`)).toBe(false);
  });
});
