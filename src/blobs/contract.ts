import type { Id } from '#kernel/ids.js';

/** Location of a blob: its id, its environment, and its expiry day in days since the epoch. */
export interface BlobKey {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
}

export interface NewBlob {
  key: BlobKey;
  bytes: Buffer;
}

export interface Swept {
  /** Number of removed blobs, including leftovers of crashes. */
  removed: number;
  /** True if the time limit ended the sweep before everything was removed. */
  isMore: boolean;
}

/**
 * Stores bytes too large for a row: raw messages and attachments. A blob is written once and never changed. A crash
 * between writing a blob and its reference leaves an orphan, which is swept when its day expires.
 */
export abstract class BlobStore {
  /** Resolves once the bytes are durable. Throws 503, and stores nothing, while the storage is unavailable. */
  abstract put(key: BlobKey, bytes: Buffer): Promise<void>;

  /** Stores chunks of any size as a blob. Streaming stores hold a few megabytes in memory. Rethrows source errors. */
  async putFrom(key: BlobKey, chunks: AsyncIterable<Buffer>, _sizeBytes: number): Promise<void> {
    const whole: Buffer[] = [];
    for await (const chunk of chunks) whole.push(chunk);
    await this.put(key, Buffer.concat(whole));
  }

  /**
   * Stores blobs of at most 256 KB each and resolves once all are durable, even if the caller's transaction rolls back
   * later. Throws if a blob could not be stored. Other blobs of the same call may be stored in that case.
   */
  async putSmall(blobs: readonly NewBlob[]): Promise<void> {
    const puts = await Promise.allSettled(blobs.map(({ key, bytes }) => this.put(key, bytes)));
    for (const put of puts) if (put.status === 'rejected') throw put.reason;
  }

  /** Returns all bytes of the blob, or null if it is gone. The caller must know the expiry day. */
  async whole(key: BlobKey): Promise<Buffer | null> {
    const chunks = await this.read(key);
    return chunks === null ? null : joined(chunks);
  }

  /** Returns the bytes from `offset` on, in chunks of at most 256 KB, or null if the blob is gone. */
  abstract read(key: Pick<BlobKey, 'environmentId' | 'id'>, offset?: number): Promise<AsyncIterable<Buffer> | null>;

  /** Removes the blob. Does nothing if it does not exist. */
  abstract remove(key: Pick<BlobKey, 'environmentId' | 'id'>): Promise<void>;
}

async function joined(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read);
}
