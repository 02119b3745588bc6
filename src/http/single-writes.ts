/** What a stream hands to `_writev`. */
export interface PendingChunk {
  readonly chunk: string | Uint8Array;
  readonly encoding: BufferEncoding | 'buffer';
}

type Done = (error?: Error | null) => void;

/** What is needed of a client's connection; `net.Socket` without importing it. Both are the interface of `stream.Writable` to who implements one. */
export interface WritingConnection {
  _write(chunk: string | Uint8Array, encoding: BufferEncoding | 'buffer', done: Done): void;
  _writev?: ((chunks: PendingChunk[], done: Done) => void) | null;
}

/**
 * Lets a connection write at once what is one chunk but for empty ones. `node:http` ends each answer with an empty one
 * behind head and body, and gathering both for `writev` costs more than writing the one.
 */
export function writeSingly(connection: WritingConnection): void {
  const writev = connection._writev;
  if (!writev) return;
  connection._writev = (chunks, done) => {
    let only: PendingChunk | null = null;
    for (let i = 0; i < chunks.length; i += 1) {
      const each = chunks[i] as PendingChunk;
      if (each.chunk.length === 0) continue;
      if (only !== null) return writev.call(connection, chunks, done);
      only = each;
    }
    if (only === null) return writev.call(connection, chunks, done);
    connection._write(only.chunk, only.encoding, done);
  };
}
