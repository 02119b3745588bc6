import { createRequire } from 'node:module';

/** File in which class-transformer keeps the metadata of its decorators (checked by library-internals.spec.ts). */
const STORAGE = 'class-transformer/cjs/storage.js';

interface StorageFile {
  defaultMetadataStorage: object;
}

/**
 * Makes an extension's copy of class-transformer share its metadata with Posthorn's copy. Nest's `ValidationPipe` and
 * `ClassSerializerInterceptor` use Posthorn's copy, which would not see `@Type` and `@Exclude` of another copy.
 * class-validator needs no such step, because all its copies share one global storage. Call this before the extension
 * is loaded, because its decorators run while it is loaded.
 */
export function shareTransformerMetadata(entryFile: string): void {
  const theirs = storageFrom(createRequire(entryFile));
  const ours = storageFrom(createRequire(import.meta.url));
  if (theirs !== null && ours !== null && theirs !== ours) Object.assign(theirs, ours);
}

/** Returns class-transformer's storage. Null if the package is missing, or keeps its metadata elsewhere. */
function storageFrom(require: NodeJS.Require): object | null {
  try {
    return (require(STORAGE) as StorageFile).defaultMetadataStorage;
  } catch {
    return null;
  }
}
