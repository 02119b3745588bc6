import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Packages that an extension must share with Posthorn, because a second copy would have different classes and metadata.
 */
const SHARED = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/bullmq',
  '@nestjs/swagger',
  '@nestjs/platform-fastify',
  'reflect-metadata',
  'typeorm',
  'rxjs',
  'bullmq',
  'posthorn',
];

export interface SecondCopy {
  name: string;
  directory: string;
  /**
   * Dependency through which the extension would load the second copy. Null if the extension would load it directly.
   */
  by: string | null;
}

/**
 * Returns the first shared package that the extension would load from another directory than Posthorn does, or null.
 * Checks the code in `entryFile` and the packages it depends on, in the folders that Node.js would search. Does not
 * load any package, because loading a second copy of `reflect-metadata` would already break the metadata.
 */
export function secondCopy(entryFile: string, ownFile = fileURLToPath(import.meta.url)): SecondCopy | null {
  const entry = realpathSync(entryFile);
  const copy = otherCopy(SHARED, entry, ownFile);
  if (copy !== null) return { ...copy, by: null };
  const seen = new Set([packageOf(ownFile)]);
  const waiting: { directory: string; by: string | null }[] = [{ directory: packageOf(entry), by: null }];
  for (const { directory, by } of waiting) {
    if (seen.has(directory)) continue;
    seen.add(directory);
    const manifest = path.join(directory, 'package.json');
    const named = dependenciesIn(manifest);
    const nested =
      by === null
        ? null
        : otherCopy(
            named.filter((name) => SHARED.includes(name)),
            manifest,
            ownFile,
          );
    if (nested !== null) return { ...nested, by };
    for (const name of named.filter((dependency) => !SHARED.includes(dependency))) {
      const found = directoryOf(name, manifest);
      if (found !== null) waiting.push({ directory: found, by: name });
    }
  }
  return null;
}

function otherCopy(
  names: readonly string[],
  fromFile: string,
  ownFile: string,
): Pick<SecondCopy, 'name' | 'directory'> | null {
  for (const name of names) {
    const theirs = directoryOf(name, fromFile);
    const ours = name === 'posthorn' ? packageOf(ownFile) : directoryOf(name, ownFile);
    if (theirs !== null && theirs !== ours) return { name, directory: theirs };
  }
  return null;
}

/** Returns the dependencies that a package manifest declares. Empty if the manifest is not readable. */
function dependenciesIn(manifest: string): string[] {
  try {
    const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
      readFileSync(manifest, 'utf8'),
    ) as Record<string, object | undefined>;
    return Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
  } catch {
    return [];
  }
}

export function packageOf(file: string): string {
  const directory = path.dirname(file);
  return existsSync(path.join(directory, 'package.json')) || directory === file
    ? realpathSync(directory)
    : packageOf(directory);
}

/** Returns a package's directory as resolved from a file, with every link resolved. Null if it is not found. */
function directoryOf(name: string, fromFile: string): string | null {
  const folders = createRequire(fromFile).resolve.paths(name) ?? [];
  // Keeps only folders named `node_modules`, because ES module imports do not search the other ones.
  const directories = folders
    .filter((folder) => path.basename(folder) === 'node_modules')
    .map((folder) => path.join(folder, name));
  const found = directories.find((directory) => existsSync(path.join(directory, 'package.json')));
  return found === undefined ? null : realpathSync(found);
}
