import { randomUUID } from 'node:crypto';
import { open, opendir, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { Logger, type OnModuleInit } from '@nestjs/common';
import type { BlobDirectory } from './blob-directory.js';
import { BlobGone, CHUNK_BYTES } from './chunks.js';
import { type BlobKey, BlobStore, type Swept } from './contract.js';
import { ensureDirectory, nullWhenMissing, syncDirectory, writeDurably } from './durable-files.js';
import { unreadable, unwritable } from './unavailable.js';

const DAY_MS = 86_400_000;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DAY = /^\d{1,7}$/;
/** Age above which a file in `tmp` is treated as a leftover of a crash, because no write takes this long. */
const ABANDONED_MS = DAY_MS;

/**
 * Stores blobs as files of a directory that all processes share: `<environment>/<last two digits>/<id>`.
 *
 * First writes an empty file `expiring/<day>/<environment>.<id>`, which names the expiry day. Then writes the blob to
 * `tmp` and renames it, so no partial file has a final name. A crash leaves only a file in `expiring` or `tmp`, which
 * `sweep` removes.
 */
export class FileBlobs extends BlobStore implements OnModuleInit {
  private readonly logger = new Logger(FileBlobs.name);

  constructor(private readonly directory: BlobDirectory) {
    super();
  }

  /** Logs a warning if the directory cannot be used now. Does not wait, because a network volume may never respond. */
  onModuleInit(): void {
    void this.directory.check().catch((error: Error) => this.logger.warn(error.message));
  }

  put(key: BlobKey, bytes: Buffer): Promise<void> {
    return this.write(key, bytes);
  }

  override putFrom(key: BlobKey, chunks: AsyncIterable<Buffer>): Promise<void> {
    return this.write(key, chunks);
  }

  async read(
    { environmentId, id }: Pick<BlobKey, 'environmentId' | 'id'>,
    offset = 0,
  ): Promise<AsyncIterable<Buffer> | null> {
    const file = this.fileOf(environmentId, id);
    try {
      const found = await stat(file).catch(nullWhenMissing);
      if (found !== null) return this.chunks(file, offset, found.size);
      await this.directory.check();
      // The volume may have been mounted in between.
      const again = await stat(file).catch(nullWhenMissing);
      return again === null ? null : this.chunks(file, offset, again.size);
    } catch (error) {
      throw unreadable(error, this.logger);
    }
  }

  async remove({ environmentId, id }: Pick<BlobKey, 'environmentId' | 'id'>): Promise<void> {
    const file = this.fileOf(environmentId, id);
    try {
      if ((await unlink(file).catch(nullWhenMissing)) === null) await this.directory.check();
    } catch (error) {
      throw unwritable(error, this.logger);
    }
  }

  /** Removes blobs expired before `today` (in days since the epoch) and crash leftovers, while `mayGoOn()` is true. */
  async sweep(today: number, nowMs: number, mayGoOn: () => boolean): Promise<Swept> {
    let removed = 0;
    const expiring = path.join(this.directory.root, 'expiring');
    for (const day of await namesIn(expiring)) {
      if (!DAY.test(day) || Number(day) >= today) continue;
      for await (const mark of entriesOf(path.join(expiring, day))) {
        if (!mayGoOn()) return { removed, isMore: true };
        const [environment = '', id = ''] = mark.split('.');
        if (DAY.test(environment) && ID.test(id)) await this.remove({ environmentId: Number(environment), id });
        await unlink(path.join(expiring, day, mark)).catch(nullWhenMissing);
        removed += 1;
      }
      await rmdir(path.join(expiring, day)).catch(() => undefined);
    }
    return { removed: removed + (await this.sweepAbandoned(nowMs)), isMore: false };
  }

  private async sweepAbandoned(nowMs: number): Promise<number> {
    let removed = 0;
    for await (const name of entriesOf(path.join(this.directory.root, 'tmp'))) {
      const file = path.join(this.directory.root, 'tmp', name);
      const found = await stat(file).catch(nullWhenMissing);
      if (found === null || nowMs - found.mtimeMs < ABANDONED_MS) continue;
      await unlink(file).catch(nullWhenMissing);
      removed += 1;
    }
    return removed;
  }

  private async write(
    { environmentId, id, expiresOnDay }: BlobKey,
    bytes: Buffer | AsyncIterable<Buffer>,
  ): Promise<void> {
    const file = this.fileOf(environmentId, id);
    const temporary = path.join(this.directory.root, 'tmp', randomUUID());
    try {
      await this.directory.check();
      await this.mark(expiresOnDay, `${environmentId}.${id}`);
      await ensureDirectory(path.dirname(temporary));
      await ensureDirectory(path.dirname(file));
      await writeDurably(temporary, bytes);
      await rename(temporary, file);
      await syncDirectory(path.dirname(file));
      // If the volume was unmounted in between, the blob is below the mount point.
      await this.directory.check();
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw unwritable(error, this.logger);
    }
  }

  private async *chunks(file: string, offset: number, size: number): AsyncGenerator<Buffer> {
    try {
      yield* chunksOf(file, offset, size);
    } catch (error) {
      throw error instanceof BlobGone ? error : unreadable(error, this.logger);
    }
  }

  private async mark(day: number, name: string): Promise<void> {
    const directory = path.join(this.directory.root, 'expiring', String(day));
    await ensureDirectory(directory);
    await writeDurably(path.join(directory, name), Buffer.alloc(0));
    await syncDirectory(directory);
  }

  private fileOf(environmentId: number, id: string): string {
    if (!ID.test(id)) throw new Error('A blob id must be a UUID.');
    return path.join(this.directory.root, String(environmentId), id.slice(-2), id);
  }
}

async function* chunksOf(file: string, offset: number, size: number): AsyncGenerator<Buffer> {
  if (offset >= size) return;
  const handle = await open(file, 'r').catch(nullWhenMissing);
  if (handle === null) throw new BlobGone();
  try {
    for (let at = offset; at < size;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(CHUNK_BYTES, size - at)), 0, undefined, at);
      if (bytesRead === 0) throw new BlobGone();
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

/** Yields the names in a directory one by one, to save memory. Yields nothing if the directory does not exist. */
async function* entriesOf(directory: string): AsyncGenerator<string> {
  const opened = await opendir(directory).catch(nullWhenMissing);
  if (opened !== null) for await (const { name } of opened) yield name;
}

const namesIn = async (directory: string): Promise<string[]> => (await readdir(directory).catch(nullWhenMissing)) ?? [];
