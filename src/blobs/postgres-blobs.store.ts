import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';
import { BlobGone, CHUNK_BYTES } from './chunks.js';
import { BlobStore, type BlobKey } from './contract.js';

/** Chunks that one statement writes (4 MB) or reads (1 MB): what a process holds of a blob beside the blob itself. */
const CHUNKS_PER_WRITE = 16;
const CHUNKS_PER_READ = 4;

const PUT: Statement = {
  name: 'blobs_put',
  text: `
    insert into blob_chunks (environment_id, id, ordinal, expires_on, blob_bytes, content)
    select $1::int, $2::uuid, $4::int + n, date '1970-01-01' + $3::int, $5::int, substring($6::bytea from n * ${CHUNK_BYTES} + 1 for ${CHUNK_BYTES})
    from generate_series(0, $7::int - 1) n
    on conflict do nothing`,
};

/** By the key of each partition. */
const READ: Statement = {
  name: 'blobs_read',
  text: `
    select ordinal, blob_bytes, content from blob_chunks
    where environment_id = $1 and id = $2 and ordinal >= $3 and ordinal < $3 + ${CHUNKS_PER_READ} order by ordinal`,
};

/** By the key of each partition. */
const SIZE: Statement = { name: 'blobs_size', text: 'select blob_bytes from blob_chunks where environment_id = $1 and id = $2 and ordinal = 0' };

/** By the key of each partition. */
const REMOVE: Statement = { name: 'blobs_remove', text: 'delete from blob_chunks where environment_id = $1 and id = $2' };

interface Chunk {
  ordinal: number;
  blob_bytes: number;
  content: Buffer;
}

/**
 * Blobs in PostgreSQL, in rows of 256 KB. All rows of one are committed together, also with whatever else the caller's
 * transaction writes, so that half of one can't be read. Retention drops them with their day (`Partitions` of the ledger).
 */
@Injectable()
export class PostgresBlobs extends BlobStore {
  constructor(private readonly database: Database) {
    super();
  }

  async put({ environmentId, id, expiresOnDay }: BlobKey, bytes: Buffer): Promise<void> {
    // The row of an empty blob is what tells it from one that is gone.
    const chunks = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
    await this.database.transaction(async () => {
      for (let first = 0; first < chunks; first += CHUNKS_PER_WRITE) {
        const count = Math.min(CHUNKS_PER_WRITE, chunks - first);
        const slab = bytes.subarray(first * CHUNK_BYTES, (first + count) * CHUNK_BYTES);
        await this.database.query(PUT, [environmentId, id, expiresOnDay, first, bytes.length, slab, count]);
      }
    });
  }

  override async putFrom({ environmentId, id, expiresOnDay }: BlobKey, source: AsyncIterable<Buffer>, sizeBytes: number): Promise<void> {
    await this.database.transaction(async () => {
      let first = 0;
      for await (const slab of slabs(source, CHUNKS_PER_WRITE * CHUNK_BYTES)) {
        const count = Math.max(1, Math.ceil(slab.length / CHUNK_BYTES));
        await this.database.query(PUT, [environmentId, id, expiresOnDay, first, sizeBytes, slab, count]);
        first += count;
      }
    });
  }

  async read({ environmentId, id }: Pick<BlobKey, 'environmentId' | 'id'>, offset = 0): Promise<AsyncIterable<Buffer> | null> {
    const [row] = await this.database.read<{ blob_bytes: number }>(SIZE, [environmentId, id]);
    return row === undefined ? null : this.chunks(environmentId, id, offset, row.blob_bytes);
  }

  async remove({ environmentId, id }: Pick<BlobKey, 'environmentId' | 'id'>): Promise<void> {
    await this.database.query(REMOVE, [environmentId, id]);
  }

  private async *chunks(environmentId: number, id: string, offset: number, size: number): AsyncGenerator<Buffer> {
    let at = offset;
    while (at < size) {
      const rows = await this.database.read<Chunk>(READ, [environmentId, id, Math.floor(at / CHUNK_BYTES)]);
      if (rows.length === 0) throw new BlobGone();
      for (const { ordinal, content } of rows) {
        const from = at - ordinal * CHUNK_BYTES;
        if (from < 0 || from >= content.length) throw new BlobGone();
        yield from === 0 ? content : content.subarray(from);
        at += content.length - from;
      }
    }
  }
}

/** The same bytes in pieces of one size, but for the last; one empty piece for none. */
async function* slabs(source: AsyncIterable<Buffer>, slabBytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isEmpty = true;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + slabBytes - heldBytes);
      held.push(part);
      heldBytes += part.length;
      at += part.length;
      if (heldBytes < slabBytes) continue;
      yield Buffer.concat(held, heldBytes);
      isEmpty = false;
      held = [];
      heldBytes = 0;
    }
  }
  if (heldBytes > 0 || isEmpty) yield Buffer.concat(held, heldBytes);
}
