import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The project's folder. */
export const ROOT = path.resolve(import.meta.dirname, '..', '..');

/** Every file below these folders of the project, as paths from its root with `/`. */
export function filesBelow(...folders: string[]): string[] {
  return folders
    .flatMap((folder) => readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .sort();
}

/** The text of a file of the project. */
export function textOf(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}
