import type { BlobDirectoriesStore } from '../../src/blobs/blob-directories.store.js';
import { BlobDirectory } from '../../src/blobs/blob-directory.js';
import { FileBlobs } from '../../src/blobs/file-blobs.js';

/** A blob store in a directory, which is new for the given database. Without a database, the ids are kept in memory. */
export function fileBlobs(
  root: string,
  known: Pick<BlobDirectoriesStore, 'find' | 'findOrAdd'> = inMemory(),
): FileBlobs {
  return new FileBlobs(new BlobDirectory(root, known));
}

function inMemory(): Pick<BlobDirectoriesStore, 'find' | 'findOrAdd'> {
  const ids = new Map<string, string>();
  return {
    find: async (path) => ids.get(path) ?? null,
    findOrAdd: async (path, begin) => {
      const id = ids.get(path) ?? (await begin());
      ids.set(path, id);
      return id;
    },
  };
}
