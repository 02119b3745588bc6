import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** What Vite's manifest says of a chunk. */
interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
}

/** A screen with the scripts that it needs, now or when it shows all that it has. */
export interface ScreenSize {
  name: string;
  /** As gzip. */
  bytes: number;
  chunks: string[];
}

/** Every screen of a built console: the entry and what that imports, and the lazy chunk of the screen with all that belongs to it. */
export function screensOf(output: string): ScreenSize[] {
  const manifest = JSON.parse(readFileSync(path.join(output, '.vite', 'manifest.json'), 'utf8')) as Record<
    string,
    Chunk
  >;
  const first = reached(manifest, 'index.html', false);
  return Object.keys(manifest)
    .filter((key) => key.endsWith('Screen.tsx'))
    .map((key) => {
      const chunks = [...new Set([...first, ...reached(manifest, key, true)])];
      const files = [...new Set(chunks.map((chunk) => manifest[chunk]?.file ?? ''))].filter((file) =>
        file.endsWith('.js'),
      );
      return {
        name: path.basename(key, '.tsx'),
        bytes: files.reduce((sum, file) => sum + statSync(path.join(output, `${file}.gz`)).size, 0),
        chunks,
      };
    });
}

/** The chunk and everything that it imports; also what it loads later, which of the entry would be every screen. */
function reached(
  manifest: Readonly<Record<string, Chunk>>,
  from: string,
  isLater: boolean,
  seen = new Set<string>(),
): Set<string> {
  const chunk = manifest[from];
  if (chunk === undefined || seen.has(from) || (isLater && chunk.isEntry === true)) return seen;
  seen.add(from);
  for (const next of [...(chunk.imports ?? []), ...(isLater ? (chunk.dynamicImports ?? []) : [])])
    reached(manifest, next, isLater, seen);
  return seen;
}
