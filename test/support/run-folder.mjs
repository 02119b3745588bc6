// Creates the folder for the files of a test run.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const IN_MEMORY = '/dev/shm';
/**
 * Required free memory. It covers PostgreSQL's WAL (`max_wal_size`), all other files of a test run, and the processes.
 */
const ROOM = 12 * 1024 ** 3;

/**
 * Creates the folder of a run, and points every suite's `tmpdir()` into it. Prefers an in-memory file system, because
 * each suite creates and drops a database of 2,500 files, which takes a tenth of the CPU time there.
 *
 * @returns {string}
 */
export function makeRunFolder() {
  const folder = mkdtempSync(path.join(hasRoom() ? IN_MEMORY : tmpdir(), 'posthorn-test-'));
  // If root runs the tests, PostgreSQL runs as another user, which needs access to the folder.
  chmodSync(folder, 0o711);
  mkdirSync(path.join(folder, 'tmp'));
  chmodSync(path.join(folder, 'tmp'), 0o1777);
  process.env.TMPDIR = path.join(folder, 'tmp');
  return folder;
}

/** Returns whether the in-memory file system has enough space and allows execution, because tests unpack programs. */
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
