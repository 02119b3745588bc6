/** Measures the current speed of the disk. On a shared disk, the measured rates depend on how long a commit takes. */
import { open } from 'node:fs/promises';
import path from 'node:path';
import { nowMs } from './clock.mjs';
import { median } from './measure.mjs';

const SYNCS = 20;
/** Approximate size of one group commit. */
const BYTES = 8192;

/**
 * Writes and syncs (`fdatasync`) a small file in the directory that holds the databases.
 *
 * @param {string} directory @returns {Promise<{ median: number, max: number }>} milliseconds
 */
export async function probeDisk(directory) {
  const file = await open(path.join(directory, 'disk-probe'), 'w+');
  const bytes = Buffer.alloc(BYTES, 7);
  const taken = [];
  try {
    // Writes the file once in advance, because its first writes would also extend it. A WAL segment already has its
    // full length.
    await file.write(Buffer.alloc(BYTES * SYNCS), 0, BYTES * SYNCS, 0);
    await file.datasync();
    for (let i = 0; i < SYNCS; i++) {
      await file.write(bytes, 0, BYTES, i * BYTES);
      const startedAt = nowMs();
      await file.datasync();
      taken.push(nowMs() - startedAt);
    }
  } finally {
    await file.close();
  }
  return { median: median(taken), max: Math.max(...taken) };
}
