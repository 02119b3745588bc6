import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from './source-tree.js';

// The semver package of npm, with which npm checks `engines`.
const { satisfies } = createRequire(import.meta.url)('semver') as {
  satisfies: (version: string, range: string) => boolean;
};
const read = <T>(file: string): T => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as T;

interface Entry {
  name?: string;
  integrity?: string;
  resolved?: string;
  engines?: Record<string, string>;
}

describe('package-lock.json', () => {
  const { packages } = read<{ packages: Record<string, Entry> }>('package-lock.json');
  const entries = Object.entries(packages).filter(([place]) => place !== '');

  it('every entry has an integrity, so npm rejects a package with other contents', () => {
    expect(entries.length).toBeGreaterThan(1000);
    expect(entries.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? '')).map(([place]) => place)).toEqual(
      [],
    );
  });

  it('names no registry, so npm uses the one that is configured', () => {
    expect(entries.filter(([, { resolved }]) => resolved !== undefined).map(([place]) => place)).toEqual([]);
  });

  it('has no install telemetry', () => {
    expect(entries.filter(([place, { name = '' }]) => /@scarf\//.test(`${place} ${name}`))).toEqual([]);
  });

  it('only mailauth needs a newer Node.js than Posthorn does, so npm ci prints no other warning', () => {
    const { engines } = read<{ engines: { node: string } }>('package.json');
    const floors = [...engines.node.matchAll(/\d+\.\d+\.\d+/g)].map(([version]) => version);
    const asking = entries.flatMap(([place, entry]) => {
      const range = entry.engines?.['node'];
      const missing = range === undefined ? [] : floors.filter((floor) => !satisfies(floor, range));
      return missing.map((floor) => `${place} does not take ${floor}: ${range}`);
    });

    expect(floors).toEqual(['20.19.0', '22.13.0', '24.11.0']);
    // mailauth excludes these Node.js versions. Posthorn loads only files of mailauth that work with them (ADR 21).
    expect(asking).toEqual([
      'node_modules/mailauth does not take 20.19.0: >=22.19.0',
      'node_modules/mailauth does not take 22.13.0: >=22.19.0',
    ]);
  });
});
