import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../architecture/source-tree.js';

/** An extension whose code is written in the test and needs no compilation. */
export interface InlineExtension {
  /** Value for EXTENSIONS. */
  file: string;
  remove(): void;
}

/** Writes the code to a folder from which it can import `posthorn` and `@nestjs/common`. Returns the extension. */
export function inlineExtension(code: string): InlineExtension {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-inline-'));
  const file = path.join(folder, 'extension.js');
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(file, code);
  mkdirSync(path.join(folder, 'node_modules', '@nestjs'), { recursive: true });
  symlinkSync(ROOT, path.join(folder, 'node_modules', 'posthorn'));
  symlinkSync(
    path.join(ROOT, 'node_modules', '@nestjs', 'common'),
    path.join(folder, 'node_modules', '@nestjs', 'common'),
  );
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
