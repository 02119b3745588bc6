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
export function coalesceSocketWrites(connection: WritingConnection): void {
  const writev = connection._writev;
  if (!writev) return;
  connection._writev = (chunks, done) => {
    const [first, second] = chunks.filter(({ chunk }) => chunk.length > 0);
    if (first !== undefined && second === undefined) connection._write(first.chunk, first.encoding, done);
    else writev.call(connection, chunks, done);
  };
}
