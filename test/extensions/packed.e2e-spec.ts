import { chmodSync, cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { textOf } from '../architecture/source-tree.js';
import { type ImageLayout, layOutImage } from '../support/image-layout.js';
import { copyToPack, shell, shellEnvironment, whileRunning } from '../support/packed-program.js';
import { SAMPLE } from './sample.js';

/** The commands in the first two blocks of the sample's README: for Posthorn's folder, and for the sample's folder. */
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

/** Returns for each package all folders below `folder` in which the package is installed. */
function placesOf(names: readonly string[], folder: string): string[][] {
  const modules = path.join(folder, 'node_modules');
  const entries = readdirSync(modules, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.name === 'package.json',
  );
  const places = entries.map((entry) => path.relative(modules, entry.parentPath));
  return names.map((name) => places.filter((place) => place === name || `/${place}`.endsWith(`/node_modules/${name}`)));
}

/** Uses only the file that `npm pack` makes, to check the instructions in the package's README. */
describe('the packed file', () => {
  let folder: string;
  let sample: string;
  let image: ImageLayout;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-packed-'));
    // If root runs the tests, PostgreSQL runs as another user, which needs access to the folder.
    chmodSync(folder, 0o755);
    const posthorn = path.join(folder, 'posthorn');
    copyToPack(posthorn, SAMPLE);
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
      'node_modules',
      'npm-shrinkwrap.json',
      'package.json',
    ]);
    // This folder contains Posthorn's replacement for the package, because @nestjs/swagger requires the original one in
    // the extension's folder (ADR 40).
    expect(readdirSync(path.join(posthorn, 'node_modules'))).toEqual(['swagger-ui-dist']);
    expect(lstatSync(path.join(posthorn, bin['posthorn'] as string)).mode & 0o111).toBe(0o111);
  });

  it('starts by its command with the compiled sample, whose routes answer', async () => {
    expect(start).toBe('EXTENSIONS=./dist/index.js npx posthorn');

    const output = await whileRunning(start, sample, shellEnvironment(), async (url, key) => {
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
      ...shellEnvironment(),
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
