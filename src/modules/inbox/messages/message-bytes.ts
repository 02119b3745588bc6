import { Injectable, Logger } from '@nestjs/common';
import { BlobGone, exactly } from '#blobs/chunks.js';
import { BlobStore } from '#blobs/contract.js';
import { ApiError, unavailable } from '#kernel/errors.js';
import { type Id, showId } from '#kernel/ids.js';
import { MessagesStore } from './messages.store.js';

/** Reads the original bytes of messages: from the row if small, otherwise from a blob with the message's id. */
@Injectable()
export class MessageBytes {
  private readonly logger = new Logger(MessageBytes.name);

  constructor(
    private readonly messages: MessagesStore,
    private readonly blobs: BlobStore,
  ) {}

  /**
   * Returns the bytes of a message in chunks, or null if they have been deleted. Reading throws `BlobGone` at the end if
   * the message does not have `sizeBytes` bytes.
   */
  async read(environmentId: number, id: Id, sizeBytes: number): Promise<AsyncIterable<Buffer> | null> {
    const raw = await this.messages.raw(environmentId, id);
    const read = raw === null ? await this.blobs.read({ environmentId, id }) : chunks(raw);
    return read && exactly(read, sizeBytes);
  }

  /**
   * Returns all bytes of a message, or null if they were deleted or are damaged. Throws `unavailable` while the bytes
   * cannot be read, so that the message is not treated as faulty. The buffer is allocated once, with `sizeBytes` bytes, and shared with
   * the parsing thread.
   */
  async whole(environmentId: number, id: Id, sizeBytes: number): Promise<Buffer | null> {
    const read = await this.read(environmentId, id, sizeBytes).catch(cannotBeRead);
    if (read === null) return null;
    const bytes = Buffer.from(new SharedArrayBuffer(sizeBytes));
    let at = 0;
    try {
      for await (const part of read) {
        if (at + part.length > sizeBytes) throw new Error('The blob has more bytes than its row says.');
        at += part.copy(bytes, at);
      }
    } catch (error) {
      if (!(error instanceof BlobGone)) cannotBeRead(error);
      this.logger.error(
        `The stored message ${showId('evt', id)} is damaged or was deleted, and is treated as deleted.`,
      );
      return null;
    }
    return bytes;
  }
}

async function* chunks(raw: Buffer): AsyncGenerator<Buffer> {
  yield raw;
}

function cannotBeRead(error: unknown): never {
  throw error instanceof ApiError ? error : unavailable(`The message cannot be read now: ${(error as Error).message}`);
}
