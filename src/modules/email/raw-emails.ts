import { Injectable } from '@nestjs/common';
import { CHUNK_BYTES } from '#blobs/chunks.js';
import { type BlobKey, BlobStore, type NewBlob } from '#blobs/contract.js';
import { Database } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';

const DAY_MS = 86_400_000;

/** Where the bytes of an email are. */
export function blobKeyOf(environmentId: number, { id, expiresOn }: { id: Id; expiresOn: string }): BlobKey {
  return { environmentId, id, expiresOnDay: Date.parse(expiresOn) / DAY_MS };
}

/** The bytes of emails as they leave: composed once, the same on every attempt. */
@Injectable()
export class RawEmails {
  constructor(
    private readonly blobs: BlobStore,
    private readonly database: Database,
  ) {}

  /** Whether an email is put by itself; others are put together. */
  static isLarge(raw: Buffer): boolean {
    return raw.length > CHUNK_BYTES;
  }

  /** Committed by itself, whatever the caller's transaction comes to: an attempt may read it at once. Throws 503 while storage is away. */
  put(environmentId: number, id: Id, expiresOnDay: number, raw: Buffer): Promise<void> {
    return this.database.unitOfWork(() => this.blobs.put({ environmentId, id, expiresOnDay }, raw));
  }

  /** The same of some that are not large. */
  putSmall(blobs: readonly NewBlob[]): Promise<void> {
    return this.blobs.putSmall(blobs);
  }

  /** In the caller's transaction, where the store keeps bytes in PostgreSQL: put again, they are the same email's. Throws 503 while storage is away. */
  putWith(environmentId: number, id: Id, expiresOnDay: number, raw: Buffer): Promise<void> {
    return this.blobs.put({ environmentId, id, expiresOnDay }, raw);
  }

  /** In chunks; null when they are gone. */
  read(environmentId: number, id: Id): Promise<AsyncIterable<Buffer> | null> {
    return this.blobs.read({ environmentId, id });
  }

  /** Null when they are gone. Throws 503 while storage is away. */
  whole(key: BlobKey): Promise<Buffer | null> {
    return this.blobs.whole(key);
  }

  /** By itself as well. */
  remove(environmentId: number, id: Id): Promise<void> {
    return this.database.unitOfWork(() => this.blobs.remove({ environmentId, id }));
  }
}
