import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Maximum number of decoded source maps in memory. Most traces contain the same few files. */
const MAPS_MAX = 32;
const PLACE = /((?:file:\/\/)?\/[^\s()]+\.[cm]?js):(\d+):(\d+)/;

interface Frame {
  toString(): string;
}

/** Source maps by file. Null if the file has no source map. */
const maps = new Map<string, SourceMap | null>();

/**
 * Shows TypeScript lines in stacks. A source map is read only when a stack trace contains its file. With
 * `--enable-source-maps`, Node.js would keep the maps of all loaded files in memory: 24 MB.
 */
export function mapStacks(): void {
  Error.prepareStackTrace = (error, frames) =>
    [headOf(error), ...frames.map((frame: Frame) => `    at ${written(frame.toString())}`)].join('\n');
}

function written(frame: string): string {
  return frame.replace(PLACE, (place, name: string, line: string, column: string) => {
    try {
      const file = name.startsWith('file:') ? fileURLToPath(name) : name;
      const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !('originalSource' in entry)) return place;
      return `${resolve(dirname(file), entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    } catch {
      return place;
    }
  });
}

function mapOf(file: string): SourceMap | null {
  let map = maps.get(file);
  if (map !== undefined) return map;
  try {
    map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')) as ConstructorParameters<typeof SourceMap>[0]);
  } catch {
    map = null;
  }
  if (maps.size >= MAPS_MAX) maps.delete(maps.keys().next().value ?? file);
  maps.set(file, map);
  return map;
}

function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}
