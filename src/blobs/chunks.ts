/** Size of one stored row and of one read, in bytes. */
export const CHUNK_BYTES = 256 * 1024;

/** Thrown when a blob is removed or cut while it is being read, so that the bytes read until then are incomplete. */
export class BlobGone extends Error {
  constructor() {
    super('The blob was removed while it was read, or is damaged.');
  }
}

/** Yields the chunks of a blob. Throws `BlobGone` at the end if they do not have `sizeBytes` bytes in total. */
export async function* exactly(chunks: AsyncIterable<Buffer>, sizeBytes: number): AsyncGenerator<Buffer> {
  let leftBytes = sizeBytes;
  for await (const chunk of chunks) {
    leftBytes -= chunk.length;
    yield chunk;
  }
  if (leftBytes !== 0) throw new BlobGone();
}
