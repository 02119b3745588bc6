import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT, textOf } from './source-tree.js';

/** Returns the names of variables that `pattern` matches in a file, sorted. */
function namesIn(file: string, pattern: RegExp): string[] {
  return [...new Set([...textOf(file).matchAll(pattern)].map((match) => match[1] ?? ''))].sort();
}

/** Files that read environment variables. All of them use the reader that the first file defines. */
const SOURCES = ['src/kernel/config/config.ts', 'src/kernel/config/mail-ports.ts'];
const read = [...new Set(SOURCES.flatMap((file) => namesIn(file, /\bread\.\w+\(\s*'([A-Z][A-Z0-9_]*)'/g)))].sort();

describe('the environment', () => {
  it('is read by variable name in two files', () => {
    expect(read).toContain('DATABASE_URL');
    expect(read.length).toBeGreaterThan(20);
  });

  it('is read only through the reader, because this test cannot see other reads', () => {
    expect(textOf('src/kernel/config/config.ts').match(/process\.env/g)).toHaveLength(1);
    for (const file of SOURCES) expect(textOf(file)).not.toMatch(/\benv\[|\benv\.[A-Z]/);
  });

  it('.env.example lists every variable and no other', () => {
    expect(namesIn('.env.example', /^([A-Z][A-Z0-9_]*)=/gm)).toEqual(read);
  });

  it('the table of docs/configure.md lists every variable and no other', () => {
    if (!existsSync(path.join(ROOT, 'docs', 'configure.md'))) return;

    expect(namesIn('docs/configure.md', /^\| `([A-Z][A-Z0-9_]*)` \|/gm)).toEqual(read);
  });
});
