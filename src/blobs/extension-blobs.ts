import { Logger, type OnModuleInit } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { withDeadline } from '#kernel/concurrency/deadline.js';
import { namedProvider } from '#kernel/extension-points.js';
import { CHUNK_BYTES } from './chunks.js';
import { type BlobKey, BlobStorage, BlobStore, NamedBlobStore, type Swept } from './contract.js';
import { unreadable, unwritable } from './unavailable.js';

const CALL_MS_LIMIT = 600_000;
/** Time limit of a sweep. A sweep should end earlier, when `mayGoOn` returns false. */
const SWEEP_MS_MAX = 60_000;
const POINT = {
  setting: 'BLOB_STORE',
  builtIn: ['postgres', 'file:DIRECTORY', 's3://BUCKET'],
  mark: '@BlobStorage()',
  decorator: BlobStorage,
  base: NamedBlobStore,
};

type BlobId = Pick<BlobKey, 'environmentId' | 'id'>;

/** The blob store of an extension. Every failure of the extension is logged and becomes a 503. */
export class ExtensionBlobs extends BlobStore implements OnModuleInit {
  private readonly logger = new Logger('Extensions');
  private store: NamedBlobStore | null = null;
  private limitMs = 0;

  constructor(
    private readonly name: string,
    private readonly discovery: DiscoveryService,
  ) {
    super();
  }

  /**
   * Looks up the store after the extensions have created their providers. Throws if the store is unknown or invalid.
   */
  onModuleInit(): void {
    const found = namedProvider(this.discovery, POINT, this.name);
    const limitMs: unknown = found.callMsMax;
    if (!Number.isInteger(limitMs) || Number(limitMs) < 1 || Number(limitMs) > CALL_MS_LIMIT)
      throw new Error(`callMsMax of ${found.constructor.name} must be an integer from 1 to ${CALL_MS_LIMIT}.`);
    this.limitMs = Number(limitMs);
    this.store = found;
  }

  put({ environmentId, id, expiresOnDay }: BlobKey, bytes: Buffer): Promise<void> {
    return this.call(unwritable, (store) => store.put({ environmentId, id, expiresOnDay }, bytes));
  }

  override putFrom(
    { environmentId, id, expiresOnDay }: BlobKey,
    chunks: AsyncIterable<Buffer>,
    sizeBytes: number,
  ): Promise<void> {
    return this.call(unwritable, async (store) => {
      let readBytes = 0;
      const counted = async function* (): AsyncGenerator<Buffer> {
        for await (const chunk of chunks) {
          readBytes += chunk.length;
          yield chunk;
        }
      };
      await store.putFrom({ environmentId, id, expiresOnDay }, counted(), sizeBytes);
      if (readBytes !== sizeBytes) throw new Error(`It has read ${readBytes} of ${sizeBytes} bytes.`);
    });
  }

  async read({ environmentId, id }: BlobId, offset = 0): Promise<AsyncIterable<Buffer> | null> {
    const iterator = await this.call(unreadable, async (store) => {
      const chunks: unknown = await store.read({ environmentId, id }, offset);
      return chunks === null ? null : (chunks as AsyncIterable<unknown, unknown>)[Symbol.asyncIterator]();
    });
    if (iterator === null) return null;
    // Reads the first chunk now: after the response has started, a failure could no longer become a 503.
    return this.chunksFrom(await this.chunkOf(iterator, offset === 0), iterator);
  }

  remove({ environmentId, id }: BlobId): Promise<void> {
    return this.call(unwritable, (store) => store.remove({ environmentId, id }));
  }

  sweep(today: number, mayGoOn: () => boolean): Promise<Pick<Swept, 'isMore'>> {
    return this.call(
      unwritable,
      async (store) => {
        const { isMore } = await store.sweep(today, mayGoOn);
        return { isMore: isMore === true };
      },
      this.limitMs + SWEEP_MS_MAX,
    );
  }

  /**
   * Iterates over the rest of the blob. Not a generator: `return()` on an unstarted generator would skip the cleanup.
   */
  private chunksFrom(first: Buffer | null, iterator: AsyncIterator<unknown, unknown>): AsyncIterableIterator<Buffer> {
    let rest = first;
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: async () => {
        if (rest?.length === 0) rest = await this.chunkOf(iterator, false);
        if (rest === null) return { done: true, value: undefined };
        const value = rest.subarray(0, CHUNK_BYTES);
        rest = rest.subarray(CHUNK_BYTES);
        return { done: false, value };
      },
      return: async () => {
        rest = null;
        endOf(iterator);
        return { done: true, value: undefined };
      },
    };
  }

  /** Reads the next chunk. Ends the extension's iterator if that fails. */
  private async chunkOf(iterator: AsyncIterator<unknown, unknown>, isRequired: boolean): Promise<Buffer | null> {
    try {
      return await this.call(unreadable, async () => {
        const chunk = await chunkOf(iterator);
        if (chunk === null && isRequired) throw new Error('It returned a blob without bytes.');
        return chunk;
      });
    } catch (error) {
      endOf(iterator);
      throw error;
    }
  }

  private async call<T>(
    refusal: typeof unwritable,
    work: (store: NamedBlobStore) => Promise<T>,
    limitMs = this.limitMs,
  ): Promise<T> {
    const { store } = this;
    if (store === null) throw refusal('It is not ready.', this.logger);
    try {
      return await withDeadline(limitMs, () => work(store));
    } catch (error) {
      throw refusal(error, this.logger);
    }
  }
}

/** Returns the next chunk that has bytes, or null at the end. Throws if the iterator yields anything but bytes. */
async function chunkOf(iterator: AsyncIterator<unknown, unknown>): Promise<Buffer | null> {
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return null;
    if (!(value instanceof Uint8Array)) throw new Error('It returned a chunk that is not a Buffer.');
    if (value.length > 0) return Buffer.from(value.buffer, value.byteOffset, value.length);
  }
}

/**
 * Closes the extension's iterator, and thereby its file or connection. Does not wait, because the extension may hang.
 */
function endOf(iterator: AsyncIterator<unknown, unknown>): void {
  void (async () => iterator.return?.())().catch(() => undefined);
}
