/** Size of one stored row and of one read, in bytes. */
export const CHUNK_BYTES = 256 * 1024;

/** Thrown when a blob is removed while it is being read, so that the bytes read until then are incomplete. */
export class BlobGone extends Error {
  constructor() {
    super('The blob was removed while it was read.');
  }
}
