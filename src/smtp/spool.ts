import { createHash, type Hash, randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SMTPServerDataStream } from 'smtp-server';
import { headOf } from '#engine/mail/message-head.js';
import { type IncomingBytes, incomingBytes, WHOLE_BYTES_MAX } from '#modules/inbox/contract.js';
import type { Conversation } from './conversations.js';

const READ_BYTES = 256 * 1024;

/** A message that is being written to a temporary file. */
interface LargeMessage {
  file: FileHandle;
  hash: Hash;
  head: Buffer;
}

export interface Spooled extends IncomingBytes {
  /** Releases the memory or the file that holds the message. Never throws. */
  discard(): Promise<void>;
}

/**
 * Receives a message, passes it to `use`, and discards it afterwards. `conversation` records the progress of the
 * transfer, and then that the message is being stored. `use` gets null if the message exceeds `bytesMax`. Rejects if
 * the client disconnects during the message.
 */
export async function withSpooled<R>(
  stream: SMTPServerDataStream,
  conversation: Conversation,
  bytesMax: number,
  nowMs: () => number,
  use: (spooled: Spooled | null) => Promise<R>,
): Promise<R> {
  conversation.arriving = {
    progress: () => ({ bytes: stream.byteLength, isOpen: !stream.writableEnded }),
    sinceMs: nowMs(),
    sinceBytes: 0,
  };
  const spooled = await spool(stream, bytesMax).finally(() => (conversation.arriving = null));
  conversation.isStoring = true;
  try {
    return await use(spooled);
  } finally {
    await spooled?.discard();
  }
}

/**
 * Returns the received message: in memory if it is small, otherwise in a temporary file. The file is unlinked as soon
 * as it is open, so that it never outlives the process. Above `bytesMax`, the rest is read and discarded, and the
 * result is null. If the client disconnects, the promise rejects and the memory or file is released.
 */
async function spool(stream: AsyncIterable<Buffer>, bytesMax: number): Promise<Spooled | null> {
  let held: Buffer[] = [];
  let large: LargeMessage | null = null;
  let sizeBytes = 0;
  try {
    for await (const chunk of stream) {
      sizeBytes += chunk.length;
      if (sizeBytes > bytesMax) {
        held = [];
        continue;
      }
      held.push(chunk);
      if (sizeBytes <= WHOLE_BYTES_MAX) continue;
      const bytes: Buffer = large === null ? Buffer.concat(held) : chunk;
      large ??= { hash: createHash('sha256'), head: headOf(bytes), file: await openNameless() };
      large.hash.update(bytes);
      await writeAll(large.file, bytes);
      held = [];
    }
  } catch (error) {
    await large?.file.close().catch(() => undefined);
    throw error;
  }
  if (sizeBytes > bytesMax) {
    await large?.file.close().catch(() => undefined);
    return null;
  }
  if (large === null) return Object.assign(incomingBytes(Buffer.concat(held)), { discard: nothingToDiscard });
  const { file, hash, head } = large;
  return {
    sizeBytes,
    sha256: hash.digest(),
    whole: null,
    head,
    read: () => chunksOf(file, sizeBytes),
    discard: () => file.close().catch(() => undefined),
  };
}

const nothingToDiscard = async (): Promise<void> => undefined;

async function openNameless(): Promise<FileHandle> {
  const name = path.join(tmpdir(), `posthorn-mail-${randomUUID()}`);
  const file = await open(name, 'wx+', 0o600);
  await unlink(name);
  return file;
}

/** Writes all bytes, because a single write may be partial. */
async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}

async function* chunksOf(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(READ_BYTES, size - at)), 0, null, at);
    if (bytesRead === 0) throw new Error('The spooled message ended early.');
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
