import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** What an extension must share with us: classes and metadata are told apart by the file that they came from. */
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

/** A second copy of a package that there may be only once. */
export interface SecondCopy {
  name: string;
  directory: string;
  /** The package among the extension's dependencies that would load it; null for the extension itself. */
  by: string | null;
}

/**
 * The first package that the code in `entryFile`, or a package that it depends on, would load from another place than we
 * do, or null. It goes by the folders where Node.js looks, without loading anything: a second `reflect-metadata` does its
 * harm when it is loaded.
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

/** What a package names of others; nothing where there is no readable manifest. */
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

/** The package that a file is part of. */
export function packageOf(file: string): string {
  const directory = path.dirname(file);
  return existsSync(path.join(directory, 'package.json')) || directory === file
    ? realpathSync(directory)
    : packageOf(directory);
}

/** Where a file finds a package, with every link resolved; null when it does not. */
function directoryOf(name: string, fromFile: string): string | null {
  const folders = createRequire(fromFile).resolve.paths(name) ?? [];
  // What is not a node_modules folder above the file is looked into by CommonJS only.
  const directories = folders
    .filter((folder) => path.basename(folder) === 'node_modules')
    .map((folder) => path.join(folder, name));
  const found = directories.find((directory) => existsSync(path.join(directory, 'package.json')));
  return found === undefined ? null : realpathSync(found);
}
