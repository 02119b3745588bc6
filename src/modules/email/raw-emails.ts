import { Injectable } from '@nestjs/common';
import { CHUNK_BYTES } from '#blobs/chunks.js';
import { type BlobKey, BlobStore, type NewBlob } from '#blobs/contract.js';
import { type BoundStatement, Database } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';

const DAY_MS = 86_400_000;

export function blobKeyOf(environmentId: number, { id, expiresOn }: { id: Id; expiresOn: string }): BlobKey {
  return { environmentId, id, expiresOnDay: Date.parse(expiresOn) / DAY_MS };
}

/** Stores the raw messages of emails. A message is composed once and is the same on every attempt. */
@Injectable()
export class RawEmails {
  constructor(
    private readonly blobs: BlobStore,
    private readonly database: Database,
  ) {}

  /**
   * Returns whether an email's raw message can be stored in one commit with its row. Otherwise it must be stored first:
   * it is large, or the blob store does not use PostgreSQL.
   */
  sharesCommit(raw: Buffer): boolean {
    return this.blobs.isInDatabase && raw.length <= CHUNK_BYTES;
  }

  /**
   * Stores an email's raw message in a separate transaction, so that an attempt can read it immediately. Throws 503
   * while storage is unavailable.
   */
  put(environmentId: number, id: Id, expiresOnDay: number, raw: Buffer): Promise<void> {
    return this.database.unitOfWork(() => this.blobs.put({ environmentId, id, expiresOnDay }, raw));
  }

  /** Returns the statement that stores raw messages for which `sharesCommit` is true. */
  insertOf(blobs: readonly NewBlob[]): BoundStatement {
    return this.blobs.insertOfSmall(blobs);
  }

  /**
   * Stores an email's raw message, in the caller's transaction if the blob store uses PostgreSQL. Safe to repeat,
   * because the message never changes. Throws 503 while storage is unavailable.
   */
  putWith(environmentId: number, id: Id, expiresOnDay: number, raw: Buffer): Promise<void> {
    return this.blobs.put({ environmentId, id, expiresOnDay }, raw);
  }

  /** Returns an email's raw message in chunks, or null if it no longer exists. */
  read(environmentId: number, id: Id): Promise<AsyncIterable<Buffer> | null> {
    return this.blobs.read({ environmentId, id });
  }

  /** Returns an email's whole raw message, or null if it no longer exists. Throws 503 while storage is unavailable. */
  whole(key: BlobKey): Promise<Buffer | null> {
    return this.blobs.whole(key);
  }

  /** Removes an email's raw message in a separate transaction. */
  remove(environmentId: number, id: Id): Promise<void> {
    return this.database.unitOfWork(() => this.blobs.remove({ environmentId, id }));
  }
}
