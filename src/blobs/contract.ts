import type { Id } from '#kernel/ids.js';

/** Where a blob is: its id, its environment, and the day on which retention ends, in days since the epoch. */
export interface BlobKey {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
}

/** A blob that is about to be stored. */
export interface NewBlob {
  key: BlobKey;
  bytes: Buffer;
}

/** What a sweep came to. */
export interface Swept {
  /** Blobs that were removed, with what crashes left. */
  removed: number;
  /** Its time was over before everything was. */
  isMore: boolean;
}

/**
 * Bytes that are too large for a row: raw messages and attachments. Written once, never changed. What is put and never
 * referred to (a crash in between) is swept with its day.
 */
export abstract class BlobStore {
  /** Stores the bytes and resolves once they are durable. Throws 503 while storage is away; then nothing is stored. */
  abstract put(key: BlobKey, bytes: Buffer): Promise<void>;

  /**
   * The same for what is not in memory: `sizeBytes` of bytes in chunks of any size. A store that can does not hold more than a few
   * megabytes of them. Throws what the chunks throw, too.
   */
  async putFrom(key: BlobKey, chunks: AsyncIterable<Buffer>, _sizeBytes: number): Promise<void> {
    const whole: Buffer[] = [];
    for await (const chunk of chunks) whole.push(chunk);
    await this.put(key, Buffer.concat(whole));
  }

  /**
   * Stores blobs of at most 256 KB each, and resolves once all are durable, whatever the caller's transaction comes to. Throws when
   * one could not be stored; others of them may be then.
   */
  async putSmall(blobs: readonly NewBlob[]): Promise<void> {
    const puts = await Promise.allSettled(blobs.map(({ key, bytes }) => this.put(key, bytes)));
    for (const put of puts) if (put.status === 'rejected') throw put.reason;
  }

  /** All of its bytes, where whoever asks knows when it expires; null when they are gone. */
  async whole(key: BlobKey): Promise<Buffer | null> {
    const chunks = await this.read(key);
    return chunks === null ? null : joined(chunks);
  }

  /** The bytes in chunks of at most 256 KB, from `offset`; null when they are gone. */
  abstract read(key: Pick<BlobKey, 'environmentId' | 'id'>, offset?: number): Promise<AsyncIterable<Buffer> | null>;

  /** Removes them; nothing happens where there is none. */
  abstract remove(key: Pick<BlobKey, 'environmentId' | 'id'>): Promise<void>;
}

async function joined(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read);
}
