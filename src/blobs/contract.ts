import type { Id } from '#kernel/ids.js';

/** Where a blob is: its id, its environment, and the day on which retention ends, in days since the epoch. */
export interface BlobKey {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
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

  /** The bytes in chunks of at most 256 KB, from `offset`; null when they are gone. */
  abstract read(key: Pick<BlobKey, 'environmentId' | 'id'>, offset?: number): Promise<AsyncIterable<Buffer> | null>;

  /** Removes them; nothing happens where there is none. */
  abstract remove(key: Pick<BlobKey, 'environmentId' | 'id'>): Promise<void>;
}
