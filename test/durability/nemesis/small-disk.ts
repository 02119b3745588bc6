import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SIZE_MIB = 400;
const PIECE_BYTES = 1024 * 1024;

/** A file system of its own in memory, small enough to be filled. Needs root, and the right to mount. */
export class SmallDisk {
  private constructor(readonly directory: string) {}

  /** Whether this machine lets us have one: tried once. */
  static isPossible(): boolean {
    const disk = SmallDisk.mount();
    disk?.remove();
    return disk !== null;
  }

  /** Null where that is not allowed. */
  static mount(): SmallDisk | null {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
    const directory = mkdtempSync(path.join(process.env['POSTHORN_TEST_DIR'] ?? tmpdir(), 'disk-'));
    const { status } = spawnSync(
      'mount',
      ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m,mode=0755`, 'posthorn-test', directory],
      { stdio: 'ignore' },
    );
    if (status === 0) return new SmallDisk(directory);
    rmSync(directory, { recursive: true });
    return null;
  }

  /** Leaves not one byte. */
  fill(): void {
    const file = openSync(this.filler, 'a');
    try {
      for (let bytes = PIECE_BYTES; bytes >= 1;) {
        try {
          if (writeSync(file, Buffer.alloc(bytes)) < bytes) bytes = Math.floor(bytes / 2);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          bytes = Math.floor(bytes / 2);
        }
      }
    } finally {
      closeSync(file);
    }
  }

  /** Gives back what `fill` took. */
  free(): void {
    rmSync(this.filler, { force: true });
  }

  freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.directory);
    return bavail * bsize;
  }

  remove(): void {
    spawnSync('umount', ['-l', this.directory]);
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get filler(): string {
    return path.join(this.directory, 'filler');
  }
}
