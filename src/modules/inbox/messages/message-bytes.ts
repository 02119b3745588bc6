import { Injectable } from '@nestjs/common';
import { BlobStore } from '#blobs/contract.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { MessagesStore } from './messages.store.js';

/** The bytes of messages as they came: in their row when they are few, else a blob under the message's id. */
@Injectable()
export class MessageBytes {
  constructor(
    private readonly messages: MessagesStore,
    private readonly blobs: BlobStore,
  ) {}

  /** In chunks; null when they are gone. */
  async read(environmentId: number, id: Id): Promise<AsyncIterable<Buffer> | null> {
    const raw = await this.messages.raw(environmentId, id);
    return raw === null ? this.blobs.read({ environmentId, id }) : chunks(raw);
  }

  /**
   * Null when they are gone. Throws `unavailable` while they cannot be read, which is no failure of the message. They
   * are in memory once, which a thread that reads them shares: `sizeBytes` is how many there are.
   */
  async whole(environmentId: number, id: Id, sizeBytes: number): Promise<Buffer | null> {
    const read = await this.read(environmentId, id).catch(cannotBeRead);
    if (read === null) return null;
    const bytes = Buffer.from(new SharedArrayBuffer(sizeBytes));
    let at = 0;
    try {
      for await (const part of read) {
        if (at + part.length > sizeBytes) throw new Error('There are more bytes than its row says.');
        at += part.copy(bytes, at);
      }
    } catch (error) {
      cannotBeRead(error);
    }
    return bytes.subarray(0, at);
  }
}

async function* chunks(raw: Buffer): AsyncGenerator<Buffer> {
  yield raw;
}

function cannotBeRead(error: unknown): never {
  throw error instanceof ApiError ? error : unavailable(`The message cannot be read now: ${(error as Error).message}`);
}
