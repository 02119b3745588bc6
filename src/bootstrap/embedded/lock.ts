import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EmbeddedPostgresError, errorCode } from './failure.js';
import { isRunning, processIdentity } from './processes.js';

interface Holder {
  readonly pid: number;
  readonly identity: string;
}

/**
 * Acquires the lock. Takes it over if the process that held it has exited. Returns a function that releases the lock.
 *
 * @throws EmbeddedPostgresError with the id of the process that holds the lock.
 */
export function lockDirectory(directory: string): () => void {
  const file = path.join(directory, 'posthorn.lock');
  const draft = `${file}.${process.pid}`;
  const mine = JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid) } satisfies Holder);
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    // Creating a hard link is atomic and fails if the name exists.
    while (!tryLink(draft, file)) removeStale(file, directory);
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    if (read(file) === mine) rmSync(file, { force: true });
  };
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function removeStale(file: string, directory: string): void {
  const seen = read(file);
  if (seen === null) return;
  const holder = parse(seen);
  if (holder !== null && isRunning(holder.pid) && processIdentity(holder.pid) === holder.identity) {
    throw new EmbeddedPostgresError(
      `${directory} is in use by another Posthorn (process ${holder.pid}): stop that one, or set another DATA_DIR.`,
    );
  }
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  // If the renamed file is not the stale lock, a concurrent start replaced it just before the rename. Restores that
  // newer lock.
  if (read(aside) !== seen) tryLink(aside, file);
  rmSync(aside, { force: true });
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function parse(content: string): Holder | null {
  try {
    const holder = JSON.parse(content) as Partial<Holder> | null;
    return typeof holder?.pid === 'number' && typeof holder.identity === 'string'
      ? { pid: holder.pid, identity: holder.identity }
      : null;
  } catch {
    return null;
  }
}
