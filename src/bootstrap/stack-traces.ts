import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** They are decoded in memory, and most traces lead through the same few files. */
const MAPS_MAX = 32;
const PLACE = /((?:file:\/\/)?\/[^\s()]+\.[cm]?js):(\d+):(\d+)/;

/** A V8 call site, which writes itself. */
interface Frame {
  toString(): string;
}

/** By file; null where there is no map beside it. */
const maps = new Map<string, SourceMap | null>();

/**
 * From now on stack traces name the lines that somebody wrote. A map is read when a trace through its file is asked for: with
 * `--enable-source-maps` Node.js keeps those of every file that is loaded: 24 MB.
 */
export function mapStacks(): void {
  Error.prepareStackTrace = (error, frames) =>
    [headOf(error), ...frames.map((frame: Frame) => `    at ${written(frame.toString())}`)].join('\n');
}

/** A frame as it was written, or as it is when nothing is known about that. */
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

/** What V8 itself writes above the frames. */
function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}
