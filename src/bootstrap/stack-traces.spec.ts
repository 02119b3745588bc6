import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';

const SOURCE = [
  'interface Nothing { a: 1 }',
  'type More = Nothing;',
  '',
  'export function fail(more?: More): never {',
  '  throw new TypeError(`told ${String(more)}`);',
  '}',
  '',
].join('\n');

describe('mapStacks', () => {
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'posthorn-stacks-'));
    compile(readFileSync(new URL('./stack-traces.ts', import.meta.url), 'utf8'), 'stack-traces', false);
    compile(SOURCE, 'mapped', true);
    compile(SOURCE, 'plain', false);
  });

  afterAll(() => rmSync(directory, { recursive: true }));

  function compile(source: string, name: string, hasMap: boolean): void {
    const { code, map } = transformSync(source, {
      filename: `${name}.ts`,
      sourceMaps: true,
      module: { type: 'es6' },
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    });
    writeFileSync(path.join(directory, `${name}.mjs`), code);
    if (hasMap) writeFileSync(path.join(directory, `${name}.mjs.map`), map ?? '');
  }

  function stackThrough(name: string): string {
    const of = (file: string): string => JSON.stringify(pathToFileURL(path.join(directory, `${file}.mjs`)).href);
    const program = `import { mapStacks } from ${of('stack-traces')}; import { fail } from ${of(name)}; mapStacks();
      try { fail(); } catch (error) { process.stdout.write(error.stack); }`;
    return execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8', env: {} });
  }

  it('shows the source line if there is a source map', () => {
    const [head, frame] = stackThrough('mapped').split('\n');

    expect(head).toBe('TypeError: told undefined');
    expect(frame).toMatch(/^ {4}at fail \(.*\/mapped\.ts:5:9\)$/);
  });

  it('leaves the line unchanged if there is no source map', () => {
    const [head, frame] = stackThrough('plain').split('\n');

    expect(head).toBe('TypeError: told undefined');
    expect(frame).toMatch(/^ {4}at fail \(.*\/plain\.mjs:\d+:\d+\)$/);
  });
});
