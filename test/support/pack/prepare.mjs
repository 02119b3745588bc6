// Makes the pack for a test run (pack.mjs), unless one exists for this build.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const dist = path.join(root, 'dist');
/** Programs in the packed file: the service first, then the operator commands that load much of the service's code. */
const PROGRAMS = [
  'main',
  'backup',
  'confirm-clock',
  'create-admin-key',
  'dns',
  'mail-reports',
  'orgs',
  'restore',
  'rotate-master-key',
];
const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/**
 * Sets POSTHORN_TEST_PACK, from which the tests' servers start (`launch.ts`). Without a pack, they start from the
 * files.
 *
 * @param {string} template the URL of a database with the current schema
 */
export async function preparePack(template) {
  const folder = path.join(dist, 'test-pack', process.version);
  try {
    if (!isFresh(folder)) await make(folder, template);
    process.env.POSTHORN_TEST_PACK = folder;
  } catch (error) {
    console.warn(`The tests start the service from its files, which takes longer: ${error.message}`);
  }
}

function isFresh(folder) {
  const cache = path.join(folder, 'modules.cache');
  if (!existsSync(cache)) return false;
  const made = statSync(cache).mtimeMs;
  const inputs = [
    path.join(dist, 'src'),
    path.join(dist, 'migrations'),
    import.meta.dirname,
    path.join(root, 'package.json'),
    path.join(root, 'node_modules', '.package-lock.json'),
  ];
  return inputs.every((file) => newestMs(file) < made);
}

function newestMs(file) {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  return stat.isDirectory()
    ? Math.max(stat.mtimeMs, ...readdirSync(file).map((name) => newestMs(path.join(file, name))))
    : stat.mtimeMs;
}

async function make(folder, template) {
  // V8 accepts the cache of any source with the same length, and would then run the code of the previous build.
  rmSync(path.join(folder, 'modules.cache'), { force: true });
  const packing = spawnSync(
    process.execPath,
    [
      '--experimental-import-meta-resolve',
      '--no-warnings',
      path.join(import.meta.dirname, 'pack.mjs'),
      folder,
      ...PROGRAMS.map((program) => path.join(dist, 'src', program === 'main' ? '' : 'programs', `${program}.js`)),
    ],
    { encoding: 'utf8' },
  );
  if (packing.status !== 0) throw new Error(`It could not be packed. ${packing.stderr}`);
  const name = `pack_${randomBytes(6).toString('hex')}`;
  await onServer(template, `CREATE DATABASE ${name} TEMPLATE posthorn_started`);
  try {
    await learn(folder, urlOf(template, name));
  } finally {
    await onServer(template, `DROP DATABASE ${name} WITH (FORCE)`);
  }
}

/** Starts the service once and uses it, so that the compiled code can be cached. */
async function learn(folder, databaseUrl) {
  const child = spawn(
    process.execPath,
    [
      ...scripts.start.split(' ').filter((word) => word.startsWith('--')),
      path.join(import.meta.dirname, 'launcher.cjs'),
      folder,
      'main',
    ],
    {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        POSTHORN_TEST_PACK_LEARN: 'yes',
        PORT: '0',
        HOST: '127.0.0.1',
        DATABASE_URL: databaseUrl,
        MASTER_KEY: randomBytes(32).toString('base64'),
        EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
        EGRESS_ALLOW_HTTP: 'true',
        LOG_LEVEL: 'warn',
        SHUTDOWN_GRACE: '0s',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  const exited = once(child, 'exit');
  const listening = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
        const [, url] = /listening on (\S+)\n/.exec(output) ?? [];
        const [, admin] = /Live admin key: (\S+)/.exec(output) ?? [];
        if (url !== undefined) resolve({ url, admin });
      });
    }
  });
  const first = await Promise.race([listening, exited]);
  if (!('url' in first)) throw new Error(`The pack does not start. It wrote:\n${output}`);
  await exercise(first);
  child.kill('SIGTERM');
  const [code] = await exited;
  if (code !== 0) throw new Error(`The pack ended with ${code}. It wrote:\n${output}`);
}

/** Calls the routes that most suites call first. */
async function exercise({ url, admin }) {
  const call = async (method, route, body) => {
    const answer = await fetch(url + route, {
      method,
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return answer.json().catch(() => ({}));
  };
  const destination = await call('POST', '/v1/destinations', { name: 'pack', type: 'pull' });
  await call('POST', '/v1/send', { destination: destination.id, event_type: 'pack.made', payload: {} });
  for (const route of ['/v1/events', '/v1/endpoints', '/v1/nothing', '/openapi.json', '/health/ready'])
    await call('GET', route);
}

async function onServer(template, statement) {
  const client = new pg.Client({ connectionString: urlOf(template, 'postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

const urlOf = (template, name) => Object.assign(new URL(template), { pathname: `/${name}` }).href;
