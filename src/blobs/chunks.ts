/** What is stored in one row, and read at once. */
export const CHUNK_BYTES = 256 * 1024;

/** A blob ended in the middle of reading it: it was removed meanwhile. What was read is not all. */
export class BlobGone extends Error {
  constructor() {
    super('The blob was removed while it was read.');
  }
}
