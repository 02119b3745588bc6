import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { errorCode } from './failure.js';

/*
 * The range is below the ephemeral ports (Linux: 32768, macOS: 49152), so that no outgoing connection takes the port
 * during a restart.
 */
const PORT_MIN = 20_000;
const PORT_MAX = 32_767;

/** Returns a random port. Does not check that it is free: another process could take it before PostgreSQL binds. */
export function anyPort(): number {
  return randomInt(PORT_MIN, PORT_MAX);
}

/**
 * Returns the port of the last start. PostgreSQL stores its options in postmaster.opts, which survives a clean stop.
 */
export function portOfLastStart(clusterDir: string): number | null {
  try {
    const options = readFileSync(path.join(clusterDir, 'postmaster.opts'), 'utf8');
    const port = /"port=(\d{1,5})"/.exec(options)?.[1];
    return port === undefined ? null : Number(port);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
