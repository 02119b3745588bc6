import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../api/polling.js';
import { ROOT } from '../architecture/source-tree.js';
import { freePort, noteForReaper } from '../durability/processes.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type ImageLayout, layOutImage } from '../support/image-layout.js';
import { compileSample, CONTACTS } from './sample.js';

interface Ended {
  code: number | null;
  out: string;
}

/** Runs the image's files and its command without a container. */
describe('the image', () => {
  let image: ImageLayout;
  let database: TestDatabase;
  let env: Record<string, string>;

  beforeAll(async () => {
    [image, database] = [layOutImage(), await createDatabase()];
    env = {
      PATH: `${image.bin}:${process.env['PATH'] ?? ''}`,
      HOME: process.env['HOME'] ?? '',
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: database.url,
      MASTER_KEY: randomBytes(32).toString('base64'),
      LOG_LEVEL: 'warn',
      SHUTDOWN_GRACE: '0s',
    };
  });

  afterAll(async () => {
    await database?.drop();
    image?.remove();
  });

  const begin = (command: string, more: Record<string, string> = {}): { child: ChildProcess; output: () => string } => {
    const child = spawn('sh', ['-c', `exec ${command}`], {
      cwd: image.app,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.once('exit', noteForReaper(child.pid));
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    return { child, output: () => output };
  };

  const run = async (command: string, more?: Record<string, string>): Promise<Ended> => {
    const { child, output } = begin(command, more);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, out: output() };
  };

  /** The master key after the rotation of the first test. */
  const rotatedKey: Record<string, string> = {};

  it('migrates, serves, creates admin keys while it runs, and rotates the master key', async () => {
    expect(await run('posthorn migrate')).toEqual({ code: 0, out: 'The database is up to date.\n' });
    const metricsPort = await freePort();
    const { child, output } = begin('posthorn', { METRICS_PORT: String(metricsPort) });
    await until(
      async () => output(),
      (text) => /listening on \S+\n/.test(text),
      60_000,
    );
    const url = /listening on (\S+)/.exec(output())?.[1]?.replace('localhost', '127.0.0.1') ?? '';

    const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    const made = await run('posthorn create-admin-key --env test');
    const byNpm = await run('npm run --silent create-admin-key');
    const listed = await fetch(`${url}/v1/keys`, {
      headers: { authorization: `Bearer ${/ek_test_\w+/.exec(made.out)?.[0]}` },
    });

    expect(output()).toMatch(/^Live admin key: ek_live_/m);
    expect([metrics.status, listed.status, made.code, byNpm.code]).toEqual([200, 200, 0, 0]);
    expect(await metrics.text()).toContain('posthorn_');
    // The command runs the service process itself, without a shell. Signals reach the service, and its exit code is
    // returned.
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    const next = randomBytes(32).toString('base64');
    const rotated = await run('posthorn rotate-master-key', { NEW_MASTER_KEY: next });
    expect(rotated).toMatchObject({
      code: 0,
      out: expect.stringContaining('Every data key is wrapped with the new master key'),
    });
    rotatedKey['MASTER_KEY'] = next;
    expect((await run('posthorn migrate', rotatedKey)).code).toBe(0);
  });

  it('422: ValidationPipe of an extension below extensions/ sees the decorators of its own copies', async () => {
    const modules = path.join(image.app, 'extensions', 'node_modules');
    cpSync(path.dirname(compileSample(CONTACTS).file), path.join(modules, 'posthorn-contacts', 'dist'), {
      recursive: true,
    });
    cpSync(path.join(ROOT, CONTACTS, 'package.json'), path.join(modules, 'posthorn-contacts', 'package.json'));
    for (const name of ['@nestjs/typeorm', 'class-transformer', 'class-validator', 'libphonenumber-js', 'validator'])
      cpSync(path.join(ROOT, 'node_modules', name), path.join(modules, name), { recursive: true });
    const EXTENSIONS = './extensions/node_modules/posthorn-contacts/dist/index.js';
    const { child, output } = begin('posthorn', { EXTENSIONS, ...rotatedKey });
    await until(
      async () => output(),
      (text) => /listening on \S+\n/.test(text),
      60_000,
    );
    const url = /listening on (\S+)/.exec(output())?.[1]?.replace('localhost', '127.0.0.1') ?? '';
    const key = /ek_test_\w+/.exec((await run('posthorn create-admin-key --env test', rotatedKey)).out)?.[0];

    const answer = await fetch(`${url}/v1/contacts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Ada', phone: ' ', address: { postal_code: ' ' } }),
    });

    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 422,
      body: { error: { details: { fields: [{ path: 'phone' }, { path: 'address.postal_code' }] } } },
    });
    child.kill('SIGTERM');
    await once(child, 'exit');
  }, 180_000);

  it('backs up its embedded database and restores it into a fresh DATA_DIR, without any file of a clone', async () => {
    const place = mkdtempSync(path.join(process.env['POSTHORN_TEST_DIR'] ?? tmpdir(), 'image-backup-'));
    const embedded = { DATABASE_URL: '', MASTER_KEY: '', DATA_DIR: path.join(place, 'first') };
    const file = path.join(place, 'monday.tar.gz');
    try {
      expect((await run('posthorn migrate', embedded)).code).toBe(0);

      const backup = await run(`posthorn backup ${file}`, embedded);
      const restored = await run(`posthorn restore ${file}`, { ...embedded, DATA_DIR: path.join(place, 'second') });
      const without = await run('posthorn backup', embedded);

      expect(backup).toEqual({ code: 0, out: expect.stringContaining('the whole database as it is now') });
      expect(restored).toEqual({ code: 0, out: expect.stringContaining('second has the database of') });
      expect(without).toEqual({ code: 1, out: expect.stringContaining('`posthorn backup FILE`') });
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });

  it('rejects an unknown command and lists the known ones', async () => {
    const { code, out } = await run('posthorn serve');

    expect(code).toBe(2);
    expect(out).toMatch(/^error: unknown command 'serve'\n\(posthorn --help lists the commands\)/);
    expect(await run('posthorn --help')).toMatchObject({ code: 0, out: expect.stringContaining('create-admin-key') });
  });
});
