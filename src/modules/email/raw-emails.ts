import { Injectable } from '@nestjs/common';
import { CHUNK_BYTES } from '#blobs/chunks.js';
import { type BlobKey, BlobStore, type NewBlob } from '#blobs/contract.js';
import { Database } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';

const DAY_MS = 86_400_000;

export function blobKeyOf(environmentId: number, { id, expiresOn }: { id: Id; expiresOn: string }): BlobKey {
  return { environmentId, id, expiresOnDay: Date.parse(expiresOn) / DAY_MS };
}

/** Stores the bytes of emails, which are composed once and are identical on every attempt. */
@Injectable()
export class RawEmails {
  constructor(
    private readonly blobs: BlobStore,
    private readonly database: Database,
  ) {}

  static isLarge(raw: Buffer): boolean {
    return raw.length > CHUNK_BYTES;
  }

  /**
   * Commits in a transaction separate from the caller's, so that an attempt can read the bytes immediately. Throws 503
   * while storage is unavailable.
   */
  put(environmentId: number, id: Id, expiresOnDay: number, raw: Buffer): Promise<void> {
    return this.database.unitOfWork(() => this.blobs.put({ environmentId, id, expiresOnDay }, raw));
  }

  putSmall(blobs: readonly NewBlob[]): Promise<void> {
    return this.blobs.putSmall(blobs);
  }

  /**
   * Runs in the caller's transaction if the blob store uses PostgreSQL. Safe to repeat, because an email's bytes never
   * change. Throws 503 while storage is unavailable.
   */
  putWith(environmentId: number, id: Id, expiresOnDay: number, raw: Buffer): Promise<void> {
    return this.blobs.put({ environmentId, id, expiresOnDay }, raw);
  }

  /** Returns null if the bytes no longer exist. */
  read(environmentId: number, id: Id): Promise<AsyncIterable<Buffer> | null> {
    return this.blobs.read({ environmentId, id });
  }

  /** Returns null if the bytes no longer exist. Throws 503 while storage is unavailable. */
  whole(key: BlobKey): Promise<Buffer | null> {
    return this.blobs.whole(key);
  }

  /** Removes the bytes in a separate commit. */
  remove(environmentId: number, id: Id): Promise<void> {
    return this.database.unitOfWork(() => this.blobs.remove({ environmentId, id }));
  }
}
