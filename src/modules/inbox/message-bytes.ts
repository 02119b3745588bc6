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

  /** Null when they are gone. Throws `unavailable` while they cannot be read, which is no failure of the message. */
  async whole(environmentId: number, id: Id): Promise<Buffer | null> {
    const read = await this.read(environmentId, id).catch(cannotBeRead);
    if (read === null) return null;
    const parts: Buffer[] = [];
    try {
      for await (const part of read) parts.push(part);
    } catch (error) {
      cannotBeRead(error);
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }
}

async function* chunks(raw: Buffer): AsyncGenerator<Buffer> {
  yield raw;
}

function cannotBeRead(error: unknown): never {
  throw error instanceof ApiError ? error : unavailable(`The message cannot be read now: ${(error as Error).message}`);
}
