import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(path.join(root, name), 'utf8');
/** Returns the options between `node` and the file that it runs, or the end of the line. */
const optionsIn = (line: string): string[] =>
  line
    .slice(line.indexOf('node ') + 5)
    .split(/[ `]/)
    .filter((word) => word.startsWith('--'));

const START = optionsIn((JSON.parse(read('package.json')) as { scripts: { start: string } }).scripts.start);

describe('the options of Node.js', () => {
  it('are the same in `npm start`, in the command, and in the documentation', () => {
    expect(START.length).toBeGreaterThan(0);
    expect(optionsIn(read('src/posthorn.ts').split('\n', 1)[0] as string)).toEqual(START);
    expect(read('docs/deploy.md')).toContain(`run Node.js with \`${START.join(' ')}\``);
  });

  it('are supported by the running Node.js, which would not start otherwise', () => {
    expect(spawnSync(process.execPath, [...START, '-e', 'process.exit(7)'], { encoding: 'utf8' })).toMatchObject({
      status: 7,
      stderr: '',
    });
  });

  // ADR 33: with pretenuring, some runs of the same code are up to a tenth slower.
  it('turn off allocation-site pretenuring', () => {
    expect(START).toContain('--no-allocation-site-pretenuring');
  });

  it("belong to the image's version of Node.js, which the documentation recommends and package.json allows", () => {
    const versions = new Set([...read('Dockerfile').matchAll(/^FROM node:(\d+)-/gm)].map(([, major]) => major));
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };

    expect([...versions]).toEqual(['24']);
    expect(engines.node).toContain('>=24.');
    for (const file of ['README.md', 'docs/deploy.md'])
      expect([file, read(file)]).toEqual([file, expect.stringContaining('Node.js 24')]);
  });
});
