/** A chunk as streams pass it to `_writev`. */
export interface PendingChunk {
  readonly chunk: string | Uint8Array;
  readonly encoding: BufferEncoding | 'buffer';
}

type Done = (error?: Error | null) => void;

/** The part of `net.Socket` that this file uses, declared without importing it. `stream.Writable` has both methods. */
export interface WritingConnection {
  _write(chunk: string | Uint8Array, encoding: BufferEncoding | 'buffer', done: Done): void;
  _writev?: ((chunks: PendingChunk[], done: Done) => void) | null;
}

/**
 * Omits the empty chunk at the end of a response of `node:http`. With it, Node uses a `writev`, which costs more than a
 * `write`.
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
