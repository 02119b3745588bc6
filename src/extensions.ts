import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';

/**
 * Loads the Nest modules that EXTENSIONS names: packages, or files relative to the working directory. Each exports its
 * module class as default.
 * @throws Error that names the extension when it cannot be loaded or has no module.
 */
export async function loadExtensions(names: readonly string[]): Promise<Type[]> {
  return Promise.all(
    names.map(async (name) => {
      const specifier = /^\.{0,2}\//.test(name) ? pathToFileURL(path.resolve(name)).href : name;
      const loaded = (await import(specifier).catch((error: Error) => {
        throw new Error(`EXTENSIONS names ${name}, which cannot be loaded: ${error.message}`);
      })) as { default?: unknown };
      if (typeof loaded.default !== 'function') throw new Error(`EXTENSIONS names ${name}, which has no Nest module as its default export.`);
      return loaded.default as Type;
    }),
  );
}
