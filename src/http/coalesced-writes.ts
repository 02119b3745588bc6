/** An element of the list that a stream passes to `_writev`. */
export interface PendingChunk {
  readonly chunk: string | Uint8Array;
  readonly encoding: BufferEncoding | 'buffer';
}

type Done = (error?: Error | null) => void;

/**
 * The members of a client's connection that are used here. `net.Socket` without importing it. Both methods are part of
 * the interface that implementers of `stream.Writable` provide.
 */
export interface WritingConnection {
  _write(chunk: string | Uint8Array, encoding: BufferEncoding | 'buffer', done: Done): void;
  _writev?: ((chunks: PendingChunk[], done: Done) => void) | null;
}

/**
 * Makes a connection write directly if only one of the pending chunks is not empty.
 *
 * `node:http` ends each answer with an empty chunk after head and body. Gathering both for `writev` costs more than
 * writing the one chunk.
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
