import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** A chunk in Vite's manifest. */
interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
}

/** Sizes of a screen's scripts: those loaded at first, and those loaded later. */
export interface ScreenSize {
  name: string;
  /** Size after gzip. */
  bytes: number;
  chunks: string[];
}

/** File of the code editor, which loads only where an editor is shown. */
const EDITOR = 'src/kit/code/editor.ts';

/** Returns the size of the code editor, without the scripts that every page loads. */
export function editorOf(output: string): number {
  const manifest = manifestOf(output);
  const first = reached(manifest, 'index.html', false);
  return bytesOf(
    output,
    manifest,
    [...reached(manifest, EDITOR, true)].filter((chunk) => !first.has(chunk)),
  );
}

/** Returns every screen of a built console, with the scripts of the entry and of the screen, and without the code editor. */
export function screensOf(output: string): ScreenSize[] {
  const manifest = manifestOf(output);
  const { [EDITOR]: _, ...withoutEditor } = manifest;
  const first = reached(manifest, 'index.html', false);
  return Object.keys(manifest)
    .filter((key) => key.endsWith('Screen.tsx'))
    .map((key) => {
      const chunks = [...new Set([...first, ...reached(withoutEditor, key, true)])];
      return { name: path.basename(key, '.tsx'), bytes: bytesOf(output, manifest, chunks), chunks };
    });
}

function manifestOf(output: string): Record<string, Chunk> {
  return JSON.parse(readFileSync(path.join(output, '.vite', 'manifest.json'), 'utf8')) as Record<string, Chunk>;
}

/** Returns the size of the chunks' scripts after gzip. */
function bytesOf(output: string, manifest: Readonly<Record<string, Chunk>>, chunks: readonly string[]): number {
  return [...new Set(chunks.map((chunk) => manifest[chunk]?.file ?? ''))]
    .filter((file) => file.endsWith('.js'))
    .reduce((sum, file) => sum + statSync(path.join(output, `${file}.gz`)).size, 0);
}

/**
 * Returns the chunk and everything that it imports. Omits the dynamic imports of the entry, because these imports are
 * the other screens.
 */
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
