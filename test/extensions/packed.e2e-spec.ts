import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../api/polling.js';
import { ROOT, textOf } from '../architecture/source-tree.js';
import { noteForReaper } from '../durability/processes.js';
import { type ImageLayout, layOutImage } from '../support/image-layout.js';
import { SAMPLE } from './sample.js';

/** The commands in the first two blocks of the sample's README: in Posthorn's folder, and in the sample's. */
const [packing = '', installing = ''] = [...textOf(`${SAMPLE}/README.md`).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
  ([, block]) => block as string,
);
const start = installing.trimEnd().split('\n').at(-1) ?? '';

const SHARED = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/bullmq',
  '@nestjs/swagger',
  'typeorm',
  'bullmq',
  'rxjs',
  'reflect-metadata',
  'posthorn',
];

/**
 * Returns the environment of a developer's shell without the variables of Jest and npm. npm uses its cache before the
 * registry.
 */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(NODE_|npm_(package|lifecycle|command|execpath|node_execpath)|JEST_)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_loglevel: 'error',
    PORT: '0',
    HOST: '',
    LOG_LEVEL: 'warn',
    SHUTDOWN_GRACE: '0s',
  };
}

function shell(command: string, cwd: string): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', command], {
    cwd,
    env: environment(),
    encoding: 'utf8',
    timeout: 240_000,
  });
  if (status !== 0) throw new Error(`In ${cwd} this ended with ${status}:\n${command}\n${stdout}${stderr}`);
  return stdout;
}

/** Returns all folders below `folder` where each of these packages is installed. */
function placesOf(names: readonly string[], folder: string): string[][] {
  const modules = path.join(folder, 'node_modules');
  const entries = readdirSync(modules, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.name === 'package.json',
  );
  const places = entries.map((entry) => path.relative(modules, entry.parentPath));
  return names.map((name) => places.filter((place) => place === name || `/${place}`.endsWith(`/node_modules/${name}`)));
}

/** Runs a program until it is stopped, as with Ctrl-C: every process in the foreground gets the signal. */
async function whileRunning(
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  work: (url: string, key: string) => Promise<void>,
): Promise<string> {
  const child = spawn('sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const retract = noteForReaper(child.pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close');
  try {
    await until(
      async () => output,
      (text) => /listening on \S+\n/.test(text) || child.exitCode !== null,
      120_000,
    );
    await work(
      /listening on (\S+)/.exec(output)?.[1]?.replace('localhost', '127.0.0.1') ?? `nothing, it wrote ${output}`,
      /Live admin key: (\S+)/.exec(output)?.[1] ?? '',
    );
  } finally {
    if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGINT');
    await ended;
    retract();
  }
  return output;
}

/**
 * Uses only the file that `npm pack` makes, without other files of this project, to check that the instructions in the
 * README of the package work.
 */
describe('the packed file', () => {
  let folder: string;
  let sample: string;
  let image: ImageLayout;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-packed-'));
    // If root runs the tests, PostgreSQL runs as another user, who must be able to enter the folder.
    chmodSync(folder, 0o755);
    const posthorn = path.join(folder, 'posthorn');
    mkdirSync(posthorn);
    for (const part of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'dist', 'docs', 'tools', SAMPLE]) {
      cpSync(path.join(ROOT, part), path.join(posthorn, part), { recursive: true, preserveTimestamps: true });
    }
    shell(packing, posthorn);
    sample = path.join(folder, 'posthorn-nats');
    shell(installing.replace(start, ''), sample);
    image = layOutImage();
  }, 300_000);

  afterAll(() => {
    image?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('installs one copy of each package that an extension shares with the service, and no link', () => {
    expect(placesOf(SHARED, sample)).toEqual(SHARED.map((name) => [name]));
    expect(SHARED.filter((name) => lstatSync(path.join(sample, 'node_modules', name)).isSymbolicLink())).toEqual([]);
  });

  it('contains the compiled code and its documents, and no sources and no tests', () => {
    const posthorn = path.join(sample, 'node_modules', 'posthorn');
    const { bin } = JSON.parse(readFileSync(path.join(posthorn, 'package.json'), 'utf8')) as {
      bin: Record<string, string>;
    };

    expect(readdirSync(posthorn).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'docs',
      'package.json',
    ]);
    expect(lstatSync(path.join(posthorn, bin['posthorn'] as string)).mode & 0o111).toBe(0o111);
  });

  it('starts by its command with the compiled sample, whose routes answer', async () => {
    expect(start).toBe('EXTENSIONS=./dist/index.js npx posthorn');

    const output = await whileRunning(start, sample, environment(), async (url, key) => {
      const answer = await fetch(`${url}/v1/nats/subjects`, { headers: { authorization: `Bearer ${key}` } });
      expect({ status: answer.status, body: await answer.json() }).toEqual({
        status: 200,
        body: { data: [], next_cursor: null },
      });
    });

    expect(output).not.toContain('did not start');
  }, 180_000);

  it('starts the image with the packed sample, as docs/extending.md describes', async () => {
    const [, dockerfile = ''] = /^```dockerfile\n([\s\S]*?)^```$/m.exec(textOf('docs/extending.md')) ?? [];
    const [, copied = '', place = ''] = /^COPY (\S+) (\S+)$/m.exec(dockerfile) ?? [];
    const [, run = ''] = /^RUN (.*)$/m.exec(dockerfile) ?? [];
    const [, extensions = ''] = /^ENV EXTENSIONS=(\S+)$/m.exec(dockerfile) ?? [];
    shell('npm pack', sample);
    cpSync(path.join(sample, copied), path.join(image.app, place, copied));
    shell(run, image.app);
    const env = {
      ...environment(),
      PATH: `${image.bin}:${process.env['PATH']}`,
      DATA_DIR: path.join(folder, 'data'),
      EXTENSIONS: extensions,
    };

    const output = await whileRunning('posthorn', image.app, env, async (url, key) => {
      expect((await fetch(`${url}/v1/nats/subjects`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(
        200,
      );
    });

    expect(output).not.toContain('did not start');
    expect(placesOf(SHARED, path.join(image.app, 'extensions')).flat()).toEqual([]);
  }, 180_000);
});
