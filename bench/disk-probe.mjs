/** Measures the current speed of disk commits, which varies on a shared disk. The benchmark rates depend on it. */
import { open } from 'node:fs/promises';
import path from 'node:path';
import { nowMs } from './clock.mjs';
import { median } from './measure.mjs';

const SYNCS = 20;
/** Size of the measured write in bytes: approximately the size of one group commit of the service. */
const BYTES = 8192;

/**
 * Measures the duration of a write and `fdatasync` of a small file in the databases' directory.
 *
 * @param {string} directory @returns {Promise<{ median: number, max: number }>} milliseconds
 */
export async function probeDisk(directory) {
  const file = await open(path.join(directory, 'disk-probe'), 'w+');
  const bytes = Buffer.alloc(BYTES, 7);
  const taken = [];
  try {
    // Allocates the file first, because writes that extend a file are slower. PostgreSQL also preallocates its WAL
    // segments.
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
