import { Injectable } from '@nestjs/common';
import { BlobStore } from '#blobs/contract.js';
import type { Id } from '#kernel/ids.js';
import { Database } from '#kernel/database.js';

/** The bytes of emails as they leave: composed once, the same on every attempt. */
@Injectable()
export class RawEmails {
  constructor(
    private readonly blobs: BlobStore,
    private readonly database: Database,
  ) {}

  /** Committed by itself, whatever the caller's transaction comes to: an attempt may read it at once. Throws 503 while storage is away. */
  put(environmentId: number, id: Id, expiresOnDay: number, raw: Buffer): Promise<void> {
    return this.database.unit(() => this.blobs.put({ environmentId, id, expiresOnDay }, raw));
  }

  /** In the caller's transaction, where the store keeps bytes in PostgreSQL: put again, they are the same email's. Throws 503 while storage is away. */
  putWith(environmentId: number, id: Id, expiresOnDay: number, raw: Buffer): Promise<void> {
    return this.blobs.put({ environmentId, id, expiresOnDay }, raw);
  }

  /** In chunks; null when they are gone. */
  read(environmentId: number, id: Id): Promise<AsyncIterable<Buffer> | null> {
    return this.blobs.read({ environmentId, id });
  }

  async whole(environmentId: number, id: Id): Promise<Buffer | null> {
    const chunks = await this.read(environmentId, id);
    if (chunks === null) return null;
    const read: Buffer[] = [];
    for await (const chunk of chunks) read.push(chunk);
    return Buffer.concat(read);
  }

  /** By itself as well. */
  remove(environmentId: number, id: Id): Promise<void> {
    return this.database.unit(() => this.blobs.remove({ environmentId, id }));
  }
}
