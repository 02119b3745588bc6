import { Injectable } from '@nestjs/common';
import type { Columns } from '#kernel/database/column-names.js';
import { type BoundStatement, Database, type Statement } from '#kernel/database/database.js';
import { GroupedReads } from '#kernel/database/grouped-reads.js';
import { byteaArray, dateArray, intArray, uuidArray } from '#kernel/database/pg-array.js';
import type { BlobChunkEntity } from './blobs.entities.js';
import { BlobGone, CHUNK_BYTES } from './chunks.js';
import { type BlobKey, BlobStore, type NewBlob } from './contract.js';

/** Number of chunks per statement (1 MB in total). A process holds several copies of these chunks in memory. */
const CHUNKS_PER_WRITE = 4;
const CHUNKS_PER_READ = 4;
const FIRST_CHUNKS_MAX = 16;

const PUT: Statement = {
  name: 'blobs_put',
  text: `
    insert into blob_chunks (environment_id, id, ordinal, expires_on, blob_bytes, content)
    select $1::int, $2::uuid, $4::int + n, date '1970-01-01' + $3::int, $5::int, substring($6::bytea
      from n * ${CHUNK_BYTES} + 1 for ${CHUNK_BYTES})
    from generate_series(0, $7::int - 1) n
    on conflict do nothing`,
};

/**
 * Has no `on conflict`, which cost 3 µs of CPU time per blob. A conflict is impossible, because the callers create a new id
 * for each blob.
 */
const PUT_SMALL: Statement = {
  name: 'blobs_put_small',
  text: `
    insert into blob_chunks (environment_id, id, ordinal, expires_on, blob_bytes, content)
    select environment_id, id, 0, expires_on, octet_length(content), content
    from unnest($1::int[], $2::uuid[], $3::date[], $4::bytea[]) as i(environment_id, id, expires_on, content)`,
};

/** Reads the first chunks of blobs. Uses the primary key of one partition per blob. */
const FIRST_CHUNKS: Statement = {
  name: 'blobs_first_chunks',
  text: `
    select i.n::int - 1 as place, c.blob_bytes, c.content from unnest($1::int[], $2::uuid[],
      $3::date[]) with ordinality as i(environment_id, id, expires_on, n)
    join blob_chunks c on c.environment_id = i.environment_id and c.id = i.id and c.ordinal = 0
      and c.expires_on = i.expires_on`,
};

/** Reads chunks of a blob. The blob's expiry day is unknown here, so this uses the primary key of each partition. */
const READ: Statement = {
  name: 'blobs_read',
  text: `
    select ordinal, blob_bytes, content from blob_chunks
    where environment_id = $1 and id = $2 and ordinal >= $3 and ordinal < $3 + ${CHUNKS_PER_READ} order by ordinal`,
};

/** Removes a blob. The blob's expiry day is unknown here, so this uses the primary key of each partition. */
const REMOVE: Statement = {
  name: 'blobs_remove',
  text: 'delete from blob_chunks where environment_id = $1 and id = $2',
};

type FirstChunk = Columns<Pick<BlobChunkEntity, 'blobBytes' | 'content'>>;
type Chunk = Columns<Pick<BlobChunkEntity, 'ordinal' | 'blobBytes' | 'content'>>;

/**
 * Stores blobs in rows of 256 KB. All rows of a blob are committed together, or with the caller's transaction if one
 * exists, so no partial blob can be read. Retention drops the rows with the partition of their day (`Partitions` of the
 * ledger).
 */
@Injectable()
export class PostgresBlobs extends BlobStore {
  private readonly firstChunks = new GroupedReads<BlobKey, FirstChunk | null>(
    (keys) => this.readFirst(keys),
    FIRST_CHUNKS_MAX,
  );

  constructor(private readonly database: Database) {
    super();
  }

  async put({ environmentId, id, expiresOnDay }: BlobKey, bytes: Buffer): Promise<void> {
    // An empty blob has one row, which distinguishes it from a removed blob.
    const chunks = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
    await this.database.transaction(async () => {
      for (let first = 0; first < chunks; first += CHUNKS_PER_WRITE) {
        const count = Math.min(CHUNKS_PER_WRITE, chunks - first);
        const slab = bytes.subarray(first * CHUNK_BYTES, (first + count) * CHUNK_BYTES);
        await this.database.query(PUT, [environmentId, id, expiresOnDay, first, bytes.length, slab, count]);
      }
    });
  }

  override get isInDatabase(): boolean {
    return true;
  }

  override insertOfSmall(blobs: readonly NewBlob[]): BoundStatement {
    return {
      statement: PUT_SMALL,
      values: [
        intArray(blobs.map(({ key }) => key.environmentId)),
        uuidArray(blobs.map(({ key }) => key.id)),
        dateArray(blobs.map(({ key }) => key.expiresOnDay)),
        byteaArray(blobs.map(({ bytes }) => bytes)),
      ],
    };
  }

  override async whole(key: BlobKey): Promise<Buffer | null> {
    const first = await this.firstChunks.get(key);
    if (first === null) return null;
    const read = [first.content];
    for await (const chunk of this.chunks(key.environmentId, key.id, first.content.length, first.blob_bytes))
      read.push(chunk);
    return read.length === 1 ? first.content : Buffer.concat(read);
  }

  override async putFrom(
    { environmentId, id, expiresOnDay }: BlobKey,
    source: AsyncIterable<Buffer>,
    sizeBytes: number,
  ): Promise<void> {
    await this.database.transaction(async () => {
      let first = 0;
      for await (const slab of slabs(source, CHUNKS_PER_WRITE * CHUNK_BYTES)) {
        const count = Math.max(1, Math.ceil(slab.length / CHUNK_BYTES));
        await this.database.query(PUT, [environmentId, id, expiresOnDay, first, sizeBytes, slab, count]);
        first += count;
      }
    });
  }

  async read(
    { environmentId, id }: Pick<BlobKey, 'environmentId' | 'id'>,
    offset = 0,
  ): Promise<AsyncIterable<Buffer> | null> {
    const first = await this.rowsFrom(environmentId, id, offset);
    if (first.length > 0) return this.chunks(environmentId, id, offset, first[0]?.blob_bytes ?? 0, first);
    // No row was found: the blob ends before the offset, or it no longer exists.
    if (offset === 0) return null;
    const [row] = await this.rowsFrom(environmentId, id, 0);
    return row === undefined ? null : this.chunks(environmentId, id, offset, Math.min(offset, row.blob_bytes));
  }

  async remove({ environmentId, id }: Pick<BlobKey, 'environmentId' | 'id'>): Promise<void> {
    await this.database.query(REMOVE, [environmentId, id]);
  }

  private rowsFrom(environmentId: number, id: string, offset: number): Promise<Chunk[]> {
    return this.database.readPrepared<Chunk>(READ, [environmentId, id, Math.floor(offset / CHUNK_BYTES)]);
  }

  private async readFirst(keys: readonly BlobKey[]): Promise<(FirstChunk | null)[]> {
    const rows = await this.database.readPrepared<FirstChunk & { place: number }>(FIRST_CHUNKS, [
      intArray(keys.map(({ environmentId }) => environmentId)),
      uuidArray(keys.map(({ id }) => id)),
      dateArray(keys.map(({ expiresOnDay }) => expiresOnDay)),
    ]);
    const found = new Map(rows.map(({ place, ...chunk }) => [place, chunk]));
    return keys.map((_, place) => found.get(place) ?? null);
  }

  /** Yields the chunks from `offset` on. `first` contains the rows that were already read, starting at `offset`. */
  private async *chunks(
    environmentId: number,
    id: string,
    offset: number,
    size: number,
    first: Chunk[] | null = null,
  ): AsyncGenerator<Buffer> {
    let at = offset;
    let read = first;
    while (at < size) {
      const rows = read ?? (await this.rowsFrom(environmentId, id, at));
      read = null;
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

/** Yields pieces of `slabBytes`. The last piece may be shorter. An empty source yields one empty piece. */
async function* slabs(source: AsyncIterable<Buffer>, slabBytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isEmpty = true;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length;) {
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
