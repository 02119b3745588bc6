import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** An instruction of a Dockerfile, joined into one line. */
export interface Instruction {
  /** Name of the instruction: `COPY`, `RUN`, … */
  word: string;
  rest: string;
}

/** Returns the stages of the Dockerfile in order. The last stage is the image. */
export function dockerStages(): Instruction[][] {
  const lines = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line));
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (word === 'FROM') stages.push([]);
    stages.at(-1)?.push({ word, rest });
  }
  return stages;
}

/** The image's `/app`, built without a container from the instructions of its last stage. */
export interface ImageLayout {
  app: string;
  /** Folder of the programs that the image has on its PATH, except for Node.js. */
  bin: string;
  remove(): void;
}

/** Builds the image's files in a folder, with only the production part of `node_modules`. */
export function layOutImage(): ImageLayout {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-image-'));
  const [app, bin] = [path.join(folder, 'app'), path.join(folder, 'bin')];
  for (const made of [app, bin]) mkdirSync(made);
  for (const { word, rest } of dockerStages().at(-1) ?? []) {
    if (word === 'COPY') copy(rest, app);
    if (word === 'RUN' && rest.includes('ln -s')) {
      const { status, stderr } = spawnSync(
        'sh',
        ['-ec', rest.replaceAll('/usr/local/bin', bin).replaceAll('/app/', `${app}/`)],
        { cwd: app, encoding: 'utf8' },
      );
      if (status !== 0) throw new Error(`RUN ${rest} failed: ${stderr}`);
    }
  }
  return { app, bin, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function copy(rest: string, app: string): void {
  const [source = '', target = ''] = rest.replace(/^--from=\S+\s+/, '').split(/\s+/);
  const [from, to] = [
    path.join(ROOT, source.replace(/^\/app\//, '')),
    path.join(app, target === './' ? source : target),
  ];
  if (source.endsWith('node_modules')) linkProduction(from, to);
  else cpSync(from, to, { recursive: true, preserveTimestamps: true });
}

function linkProduction(from: string, to: string): void {
  const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  for (const [place, { dev = false }] of Object.entries(packages)) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(place)?.[1];
    if (name === undefined || dev || !existsSync(path.join(from, name))) continue;
    mkdirSync(path.dirname(path.join(to, name)), { recursive: true });
    symlinkSync(path.join(from, name), path.join(to, name));
  }
}
