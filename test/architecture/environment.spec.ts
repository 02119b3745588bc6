import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT, textOf } from './source-tree.js';

/** Names of variables at the places where `pattern` finds them, sorted. */
function namesIn(file: string, pattern: RegExp): string[] {
  return [...new Set([...textOf(file).matchAll(pattern)].map((match) => match[1] ?? ''))].sort();
}

const read = namesIn('src/kernel/config/config.ts', /\bread\.\w+\(\s*'([A-Z][A-Z0-9_]*)'/g);

describe('the environment', () => {
  it('is read by name in config.ts', () => {
    expect(read).toContain('DATABASE_URL');
    expect(read.length).toBeGreaterThan(20);
  });

  it('is read nowhere past the reader, whose variables this test would not see', () => {
    expect(textOf('src/kernel/config/config.ts').match(/process\.env/g)).toHaveLength(1);
    expect(textOf('src/kernel/config/config.ts')).not.toMatch(/\benv\[|\benv\.[A-Z]/);
  });

  it('is in .env.example, every variable and no other', () => {
    expect(namesIn('.env.example', /^([A-Z][A-Z0-9_]*)=/gm)).toEqual(read);
  });

  it('is in the table of docs/configure.md, every variable and no other', () => {
    if (!existsSync(path.join(ROOT, 'docs', 'configure.md'))) return;

    expect(namesIn('docs/configure.md', /^\| `([A-Z][A-Z0-9_]*)` \|/gm)).toEqual(read);
  });
});
