import { BlobDirectory } from '../../src/blobs/blob-directory.js';
import type { BlobDirectoryStore } from '../../src/blobs/blob-directory.store.js';
import { FileBlobs } from '../../src/blobs/file-blobs.js';

/** Returns the blob store of a directory. Without `known`, memory takes the place of the table `blob_directory`. */
export function fileBlobs(root: string, known: Pick<BlobDirectoryStore, 'find' | 'findOrAdd'> = inMemory()): FileBlobs {
  return new FileBlobs(new BlobDirectory(root, known));
}

function inMemory(): Pick<BlobDirectoryStore, 'find' | 'findOrAdd'> {
  let marker: string | null = null;
  return { find: async () => marker, findOrAdd: async (begin) => (marker ??= await begin()) };
}
