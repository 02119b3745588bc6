import { randomUUID } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { BlobDirectoriesStore } from './blob-directories.store.js';
import { ensureDirectory, nullWhenMissing, syncDirectory, writeDurably } from './durable-files.js';

const MARKER = 'posthorn-blobs';

/**
 * The directory of `BLOB_STORE=file:`. Its marker file contains an id, which the database stores, too. Without the
 * marker, an unmounted volume would look like a directory whose blobs were deleted.
 */
export class BlobDirectory {
  /** Id that the marker must contain. Null until the directory was checked for the first time. */
  private id: string | null = null;

  constructor(
    readonly root: string,
    private readonly known: Pick<BlobDirectoriesStore, 'find' | 'findOrAdd'>,
  ) {}

  /**
   * Creates the marker if this database has never used the directory. Throws if the marker is missing or belongs to
   * another directory.
   */
  async check(): Promise<void> {
    this.id ??= (await this.known.find(this.root)) ?? (await this.known.findOrAdd(this.root, () => this.begin()));
    if ((await this.marker()) === this.id) return;
    throw new Error(
      `The file ${MARKER} in the directory ${this.root} must contain ${this.id}, but is missing or different. Is the volume mounted?`,
    );
  }

  /** Returns the id in the marker. Creates the marker if there is none, and the directory. */
  private async begin(): Promise<string> {
    const found = await this.marker();
    if (found !== null) return found;
    const id = randomUUID();
    await ensureDirectory(this.root);
    const temporary = path.join(this.root, `${MARKER}.${id}`);
    await writeDurably(temporary, Buffer.from(id));
    await rename(temporary, path.join(this.root, MARKER));
    await syncDirectory(this.root);
    return id;
  }

  private async marker(): Promise<string | null> {
    const text = await readFile(path.join(this.root, MARKER), 'utf8').catch(nullWhenMissing);
    return text?.trim() ?? null;
  }
}
