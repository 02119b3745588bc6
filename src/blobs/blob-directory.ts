import { randomUUID } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { BlobDirectoryStore } from './blob-directory.store.js';
import { ensureDirectory, nullWhenMissing, syncDirectory, writeDurably } from './durable-files.js';

const NAME = 'posthorn-blobs';
const MARKER = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The directory of `BLOB_STORE=file:`. It contains a marker file, whose content PostgreSQL also stores. Without the
 * marker, an unmounted volume would look like a directory whose blobs were deleted.
 */
export class BlobDirectory {
  /** Content that the marker must have. Null until the directory was checked for the first time. */
  private marker: string | null = null;

  constructor(
    readonly root: string,
    private readonly known: Pick<BlobDirectoryStore, 'find' | 'findOrAdd'>,
  ) {}

  /**
   * Creates the marker if this database has never used a directory. Throws if the marker is missing or belongs to
   * another database.
   */
  async check(): Promise<void> {
    this.marker ??= (await this.known.find()) ?? (await this.known.findOrAdd(() => this.begin()));
    if ((await this.read()) === this.marker) return;
    throw new Error(
      `The file ${NAME} in the directory ${this.root} must contain ${this.marker}, but is missing or different. Is the volume mounted?`,
    );
  }

  /** Returns the content of the marker. Creates the directory and the marker if there is none. */
  private async begin(): Promise<string> {
    const found = await this.read();
    if (found !== null && MARKER.test(found)) return found;
    const marker = randomUUID();
    // After a crash, the sweep of `FileBlobs` removes what is left in `tmp`.
    const temporary = path.join(this.root, 'tmp', marker);
    await ensureDirectory(path.dirname(temporary));
    await writeDurably(temporary, Buffer.from(marker));
    await rename(temporary, path.join(this.root, NAME));
    await syncDirectory(this.root);
    return marker;
  }

  private async read(): Promise<string | null> {
    const text = await readFile(path.join(this.root, NAME), 'utf8').catch(nullWhenMissing);
    return text?.trim() ?? null;
  }
}
