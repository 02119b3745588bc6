import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Built {
  file: string;
  imports?: string[];
  css?: string[];
}
type Manifest = Readonly<Record<string, Built>>;

const PAGE = 'index.html';
const SCREEN = /([A-Z][A-Za-z]*)Screen\.tsx$/;

/** Returns the files of each screen by its path segment, such as `event-types`. Empty without a manifest. */
export function filesOfScreens(folder: string): ReadonlyMap<string, readonly string[]> {
  const file = path.join(folder, '.vite', 'manifest.json');
  if (!existsSync(file)) return new Map();
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  const first = reached(manifest, PAGE);
  return new Map(
    Object.keys(manifest).flatMap((source) => {
      const [, name] = SCREEN.exec(source) ?? [];
      return name === undefined
        ? []
        : [[addressed(name), [...reached(manifest, source)].filter((each) => !first.has(each))]];
    }),
  );
}

/** Returns the built file of a source file, the files that it imports, and the styles of all these files. */
function reached(manifest: Manifest, source: string, seen = new Set<string>(), files = new Set<string>()): Set<string> {
  const built = manifest[source];
  if (built === undefined || seen.has(source)) return files;
  seen.add(source);
  for (const each of [built.file, ...(built.css ?? [])]) files.add(each);
  for (const each of built.imports ?? []) reached(manifest, each, seen, files);
  return files;
}

const addressed = (name: string): string => name.replace(/(?<=.)([A-Z])/g, '-$1').toLowerCase();
