import { DiscoveryService } from '@nestjs/core';
import type { BoundStatement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';

/** Marks a blob store for `BLOB_STORE=extension:NAME`: `@BlobStorage() class AcmeBlobs extends NamedBlobStore`. */
export const BlobStorage = DiscoveryService.createDecorator();

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
 * Stores bytes that are too large for a row: raw messages and attachments. A blob is written once and never changed. A
 * crash after a blob is written and before a row refers to it leaves an unused blob, which is removed like any other
 * after its expiry day.
 */
export abstract class BlobStore {
  /** Resolves once the bytes are durable. Throws 503, and stores nothing, while the storage is unavailable. */
  abstract put(key: BlobKey, bytes: Buffer): Promise<void>;

  /**
   * Stores chunks of any size as one blob. Rethrows errors of the source. This default implementation holds the whole
   * blob in memory. An override can stream the chunks and hold only a few megabytes.
   */
  async putFrom(key: BlobKey, chunks: AsyncIterable<Buffer>, _sizeBytes: number): Promise<void> {
    const whole: Buffer[] = [];
    for await (const chunk of chunks) whole.push(chunk);
    await this.put(key, Buffer.concat(whole));
  }

  /** True if `insertOfSmall` returns a statement, so that small blobs can share a commit with the caller's rows. */
  get isInDatabase(): boolean {
    return false;
  }

  /** Returns a statement that stores blobs of at most 256 KB each. Throws if the blobs are not stored in PostgreSQL. */
  insertOfSmall(_blobs: readonly NewBlob[]): BoundStatement {
    throw new Error('This store keeps its blobs outside of PostgreSQL.');
  }

  /** Returns all bytes of the blob, or null if it no longer exists. `key` must contain the blob's expiry day. */
  async whole(key: BlobKey): Promise<Buffer | null> {
    const chunks = await this.read(key);
    return chunks === null ? null : joined(chunks);
  }

  /** Returns the bytes from `offset` on, in chunks of at most 256 KB, or null if the blob no longer exists. */
  abstract read(key: Pick<BlobKey, 'environmentId' | 'id'>, offset?: number): Promise<AsyncIterable<Buffer> | null>;

  /** Removes the blob. Does nothing if the blob does not exist. */
  abstract remove(key: Pick<BlobKey, 'environmentId' | 'id'>): Promise<void>;
}

/**
 * A blob store of an extension. If a call throws, exceeds `callMsMax` or returns an invalid value, the write or the
 * read fails with 503.
 */
export abstract class NamedBlobStore extends BlobStore {
  /** Name of the store: lower-case letters, digits and `-`. */
  abstract readonly name: string;

  /** Time limit of one call, and of the wait for one chunk, in milliseconds. */
  get callMsMax(): number {
    return 60_000;
  }

  /**
   * Removes blobs whose expiry day is before `beforeDay`, while `mayGoOn()` is true. A worker process calls this every
   * hour. A storage that removes expired blobs by itself only returns `isMore: false`.
   */
  abstract sweep(beforeDay: number, mayGoOn: () => boolean): Promise<Swept>;
}

async function joined(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read);
}
