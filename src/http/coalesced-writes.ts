/** As a stream passes them to `_writev`. */
export interface PendingChunk {
  readonly chunk: string | Uint8Array;
  readonly encoding: BufferEncoding | 'buffer';
}

type Done = (error?: Error | null) => void;

/** `net.Socket` without importing it. Implementers of `stream.Writable` provide both methods. */
export interface WritingConnection {
  _write(chunk: string | Uint8Array, encoding: BufferEncoding | 'buffer', done: Done): void;
  _writev?: ((chunks: PendingChunk[], done: Done) => void) | null;
}

/** `node:http` ends an answer with an empty chunk. `writev` costs more than writing the one other chunk. */
export function coalesceSocketWrites(connection: WritingConnection): void {
  const writev = connection._writev;
  if (!writev) return;
  connection._writev = (chunks, done) => {
    const [first, second] = chunks.filter(({ chunk }) => chunk.length > 0);
    if (first !== undefined && second === undefined) connection._write(first.chunk, first.encoding, done);
    else writev.call(connection, chunks, done);
  };
}
