import { randomUUID } from 'node:crypto';
import { mkdir, open, opendir, readdir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { unavailable } from '#kernel/errors.js';
import { BlobGone, CHUNK_BYTES } from './chunks.js';
import { type BlobKey, BlobStore, type Swept } from './contract.js';

const DAY_MS = 86_400_000;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DAY = /^\d{1,7}$/;
/** Age above which a file in `tmp` is treated as a leftover of a crash, because no write takes this long. */
const ABANDONED_MS = DAY_MS;

/**
 * Stores blobs as files of a directory that all processes share: `<environment>/<last two digits>/<id>`.
 *
 * First writes an empty marker file `expiring/<day>/<environment>.<id>`, which names the expiry day. Then writes the
 * blob to `tmp` and renames it, so no partial file has a final name. A crash leaves only a marker or a file in `tmp`,
 * which `sweep` removes.
 */
export class FileBlobs extends BlobStore {
  constructor(private readonly root: string) {
    super();
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
    const found = await stat(file).catch(nullWhenMissing);
    return found === null ? null : chunksOf(file, offset, found.size);
  }

  async remove({ environmentId, id }: Pick<BlobKey, 'environmentId' | 'id'>): Promise<void> {
    const file = this.fileOf(environmentId, id);
    await unlink(file).catch(nullWhenMissing);
  }

  /** Removes blobs expired before `today` (in days since the epoch) and crash leftovers, while `mayGoOn()` is true. */
  async sweep(today: number, nowMs: number, mayGoOn: () => boolean): Promise<Swept> {
    let removed = 0;
    const expiring = path.join(this.root, 'expiring');
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
    for await (const name of entriesOf(path.join(this.root, 'tmp'))) {
      const file = path.join(this.root, 'tmp', name);
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
    const temporary = path.join(this.root, 'tmp', randomUUID());
    try {
      await this.mark(expiresOnDay, `${environmentId}.${id}`);
      await ensureDirectory(path.dirname(temporary));
      await ensureDirectory(path.dirname(file));
      await writeDurably(temporary, bytes);
      await rename(temporary, file);
      await sync(path.dirname(file));
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw Object.assign(unavailable('The message store is not writable. Nothing was accepted, send it again.'), {
        cause: error,
      });
    }
  }

  private async mark(day: number, name: string): Promise<void> {
    const directory = path.join(this.root, 'expiring', String(day));
    await ensureDirectory(directory);
    await writeDurably(path.join(directory, name), Buffer.alloc(0));
    await sync(directory);
  }

  private fileOf(environmentId: number, id: string): string {
    if (!ID.test(id)) throw new Error('A blob id must be a UUID.');
    return path.join(this.root, String(environmentId), id.slice(-2), id);
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

async function writeDurably(file: string, bytes: Buffer | AsyncIterable<Buffer>): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    // Each call of `writeFile` continues where the previous one ended.
    for await (const chunk of Buffer.isBuffer(bytes) ? [bytes] : bytes) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates a directory that survives a power failure: fsyncs the parent of every new directory. */
async function ensureDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let each = directory; each.length >= first.length; each = path.dirname(each)) await sync(path.dirname(each));
}

async function sync(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
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

function nullWhenMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}
