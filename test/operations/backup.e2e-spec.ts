import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { as, expectRefusal } from '../api/answers.js';
import type { Targets } from '../api/scene.js';
import { destinationAt, eventIn, expectStatus, send, sendMany, startTargets } from '../api/scene.js';
import { run } from '../support/program.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';

describe('backup and restore of the embedded server', () => {
  const place = path.join(process.env['POSTHORN_TEST_DIR'] ?? '', `backup-${process.pid}`);
  const file = `${place}.tar.gz`;
  const embeddedAt = (name: string): Record<string, string> => ({
    DATABASE_URL: '',
    MASTER_KEY: '',
    DATA_DIR: path.join(place, name),
  });
  let targets: Targets;
  let server: PosthornServer;
  let isStopped = false;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(embeddedAt('first')), startTargets()]);
  });

  afterAll(async () => {
    await Promise.all([isStopped ? null : server.stop(), targets.close()]);
    rmSync(place, { recursive: true, force: true });
    rmSync(file, { force: true });
  });

  it('a backup of a service under load is restored into a fresh DATA_DIR with every event, secret and key, and the service continues from there', async () => {
    const target = targets.open();
    const destination = await destinationAt(server, target.url);
    const { secret } = expectStatus(await server.api('GET', `/v1/destinations/${destination}/secret`), 200).json;
    const before = await sendMany(server, destination, 60);
    const pull = expectStatus(await server.api('POST', '/v1/destinations', { name: 'Pulled', type: 'pull' }), 201).json
      .id as string;
    const pulled = await send(server, pull);
    let isDone = false;
    const load = (async (): Promise<void> => {
      while (!isDone) await sendMany(server, destination, 20);
    })();

    const backup = await run('backup', server.env, [file], 'files');
    isDone = true;
    await load;

    expect(backup).toEqual({
      code: 0,
      err: '',
      out: expect.stringMatching(/^\S+\.tar\.gz: \d+\.\d MiB[^\n]+\nThe master key is in it: [^\n]+\n$/),
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const late = await send(server, pull);
    const cursor = (await server.api('GET', `/v1/pull/${pull}`)).json.next_cursor as string;

    const env = { ...server.env, ...embeddedAt('second'), BOOTSTRAP_API_KEY: '' };
    const restored = await run('restore', env, [file], 'files');
    expect(restored).toEqual({
      code: 0,
      err: '',
      out: expect.stringMatching(/^\S+second has the database of \d{4}-[^\n]+\n$/),
    });
    const second = await startServer(env);
    const asBefore: PosthornServer = {
      ...second,
      api: (method, at, body, headers) => second.api(method, at, body, { ...as(server.apiKey), ...headers }),
    };

    try {
      for (const id of before) expect((await eventIn(asBefore, id, 'delivered')).payload).toEqual({ hello: 'world' });
      expect((await asBefore.api('GET', `/v1/destinations/${destination}/secret`)).json.secret).toBe(secret);
      const again = await send(asBefore, destination, { payload: { after: 'restore' } });
      await eventIn(asBefore, again, 'delivered');
      const arrived = target.posts().find(({ headers }) => headers['webhook-id'] === again);
      expect(
        new Webhook(secret).verify(arrived?.rawBody.toString() ?? '', arrived?.headers as Record<string, string>),
      ).toEqual({ after: 'restore' });
      // After a restore, the API must reject cursors that were issued after the backup.
      expectRefusal(await asBefore.api('GET', `/v1/pull/${pull}?cursor=${cursor}`), 400);
      const { data } = (await asBefore.api('GET', `/v1/pull/${pull}`)).json;
      expect(data.map(({ id }: { id: string }) => id.slice(4))).toEqual([pulled.slice(4)]);
      expectRefusal(await asBefore.api('GET', `/v1/events/${late}`), 404);
      expect(readFileSync(path.join(place, 'second', 'master.key'), 'utf8')).toBe(
        readFileSync(path.join(place, 'first', 'master.key'), 'utf8'),
      );
    } finally {
      await second.stop();
    }
  }, 180_000);

  it('a restore overwrites nothing, and a truncated, foreign or missing file leaves no files behind', async () => {
    const third = path.join(place, 'third');
    const cut = path.join(place, 'cut.tar.gz');
    copyFileSync(file, cut);
    truncateSync(cut, Math.floor(statSync(file).size / 2));

    const ended = [
      await run('backup', server.env, [file]),
      await run('backup', { ...server.env, DATABASE_URL: 'postgres://ann@127.0.0.1:1/x', MASTER_KEY: 'a'.repeat(64) }, [
        `${file}.2`,
      ]),
      await run('backup', { ...server.env, DATA_DIR: third }, [`${file}.2`]),
      await run('backup', server.env),
      await run('restore', server.env, [file]),
      await run('restore', { ...server.env, DATA_DIR: third }, [cut]),
      await run('restore', { ...server.env, DATA_DIR: third }, [path.join(place, 'first', 'postgres.log')]),
      await run('restore', { ...server.env, DATA_DIR: third }, [`${file}.2`]),
    ];

    expect(ended.map(({ code, out }) => ({ code, out }))).toEqual(ended.map(() => ({ code: 1, out: '' })));
    const lines = [
      /exists already: name another file/,
      /DATABASE_URL leads to a PostgreSQL of your own/,
      /There is no database in DATA_DIR/,
      /Name one file/,
      /is in use by another Posthorn/,
      /it is cut off/,
      /no gzip file/,
      /There is no /,
    ];
    lines.forEach((line, at) =>
      expect(ended[at]?.err).toMatch(
        new RegExp(`^(?:No backup was made|Nothing was restored): [^\\n]*${line.source}[^\\n]*\\n$`),
      ),
    );
    expect(existsSync(`${file}.2`)).toBe(false);
    expect(readdirSync(third)).toEqual([]);
  });

  it('--without-key leaves out the master key and says so; a stopped service is backed up and remains stopped; a restore overwrites no database', async () => {
    const dataDir = path.join(place, 'fourth');
    const env = { ...server.env, ...embeddedAt('fourth') };
    const keyless = path.join(place, 'keyless.tar.gz');
    await server.stop();
    isStopped = true;

    const backup = await run('backup', server.env, [keyless, '--without-key']);
    const restored = await run('restore', env, [keyless]);
    const again = await run('restore', env, [keyless]);

    expect(backup).toMatchObject({ code: 0, out: expect.stringContaining('The master key is NOT in it') });
    expect(restored).toMatchObject({
      code: 0,
      out: expect.stringContaining('put master.key there, or set MASTER_KEY'),
    });
    expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(['postgres', 'postgres.password']));
    expect(existsSync(path.join(dataDir, 'master.key'))).toBe(false);
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringContaining('exists already: a restore needs a DATA_DIR without a database'),
    });
  });
});
