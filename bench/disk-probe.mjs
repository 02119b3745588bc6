/** How quick the disk is at the moment: rates on a shared disk follow what a commit waits for. */
import { open } from 'node:fs/promises';
import path from 'node:path';
import { nowMs } from './clock.mjs';
import { median } from './measure.mjs';

const SYNCS = 20;
/** As much as a group commit writes. */
const BYTES = 8192;

/**
 * Writes and syncs (`fdatasync`) a small file in the directory that the databases lie in.
 *
 * @param {string} directory @returns {Promise<{ median: number, max: number }>} milliseconds
 */
export async function probeDisk(directory) {
  const file = await open(path.join(directory, 'disk-probe'), 'w+');
  const bytes = Buffer.alloc(BYTES, 7);
  const taken = [];
  try {
    // Its first writes also make the file longer; a WAL segment has its length already.
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
