import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SIZE_MIB = 400;
const PIECE_BYTES = 1024 * 1024;

/** A small file system in memory that can be filled. Needs root and the permission to mount. */
export class SmallDisk {
  private constructor(readonly directory: string) {}

  /** Tries the mount once, and returns whether this machine allows it. */
  static isPossible(): boolean {
    const disk = SmallDisk.mount();
    disk?.remove();
    return disk !== null;
  }

  /** Returns null if mounting is not allowed. */
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

  /** Fills the disk to the last byte. */
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

  /** Frees the space that `fill` took. */
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
