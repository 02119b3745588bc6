// Where a run of the tests keeps its files.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const IN_MEMORY = '/dev/shm';
/** What PostgreSQL keeps of its log (`max_wal_size`), twice that for everything else, and as much again for the processes. */
const ROOM = 12 * 1024 ** 3;

/**
 * Makes the folder of a run, and has every suite's `tmpdir()` lead into it. In memory where there is room: each suite makes
 * and drops a database of 2,500 files, and ext4 looks at every inode that was freed in the last minute before it gives one
 * out (`recently_deleted`), which makes that a second of CPU or two; in memory it is a tenth. PostgreSQL runs with
 * fsync as ever: what a process that is killed leaves is the same in both.
 * @returns {string}
 */
export function makeRunFolder() {
  const folder = mkdtempSync(path.join(hasRoom() ? IN_MEMORY : tmpdir(), 'posthorn-test-'));
  // As root, PostgreSQL runs as another user, who must be able to pass.
  chmodSync(folder, 0o711);
  mkdirSync(path.join(folder, 'tmp'));
  chmodSync(path.join(folder, 'tmp'), 0o1777);
  process.env.TMPDIR = path.join(folder, 'tmp');
  return folder;
}

/** False in most containers, which get 64 MiB; programs that tests unpack must run there as well. */
function hasRoom() {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, where]) => where === IN_MEMORY);
    if (mount === undefined || mount[3].split(',').includes('noexec')) return false;
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return Math.min(bavail * bsize, process.availableMemory?.() ?? 0) >= ROOM;
  } catch {
    return false;
  }
}
