import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';

/** Creates or replaces a file. Resolves once its content is durable. The name is durable only after `syncDirectory`. */
export async function writeDurably(file: string, bytes: Buffer | AsyncIterable<Buffer>): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    // Each call of `writeFile` continues where the previous one ended.
    for await (const chunk of Buffer.isBuffer(bytes) ? [bytes] : bytes) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates a directory that survives a power failure: fsyncs the parent of every new directory. */
export async function ensureDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let each = directory; each.length >= first.length; each = path.dirname(each))
    await syncDirectory(path.dirname(each));
}

/** Makes the names in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Handler for `catch`: returns null if the file or directory does not exist, and rethrows other errors. */
export function nullWhenMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}
