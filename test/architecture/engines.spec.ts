import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Lock, TRIMMED, trimmed } from '../../tools/trim-engines.mjs';

// The semver package of npm, with which npm checks `engines`.
const { satisfies } = createRequire(import.meta.url)('semver') as {
  satisfies: (version: string, range: string) => boolean;
};
const ROOT = path.resolve(import.meta.dirname, '..', '..');
const read = <T>(file: string): T => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as T;

describe('package-lock.json', () => {
  const lock = read<Lock>('package-lock.json');
  const { engines } = read<{ engines: { node: string } }>('package.json');
  const floors = [...engines.node.matchAll(/\d+\.\d+\.\d+/g)].map(([version]) => version);

  it('has no package that needs a newer Node.js than Posthorn does, so npm ci prints no warning', () => {
    const asking = Object.entries(lock.packages).flatMap(([name, entry]) => {
      const range = entry.engines?.['node'];
      const missing = range === undefined ? [] : floors.filter((floor) => !satisfies(floor, range));
      return missing.map((floor) => `${name} does not take ${floor}: ${range}`);
    });

    expect(floors).toEqual(['20.19.0', '22.13.0', '24.11.0']);
    expect(asking).toEqual([]);
  });

  it('a listed exception whose requirement has changed is reported', () => {
    const of = (node: string): Lock => ({ packages: { 'node_modules/mailauth': { engines: { node } } } });

    expect(trimmed(of(TRIMMED['mailauth'] ?? '')).packages['node_modules/mailauth']).toEqual({});
    expect(() => trimmed(of('>=24'))).toThrow('mailauth now asks for Node.js >=24');
  });
});
