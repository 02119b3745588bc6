import type { Database, Statement } from '#kernel/database/database.js';
import type { BlobDirectoryEntity } from './blobs.entities.js';

// The table has a single row. FIND uses the index blob_directory_pkey.
const FIND: Statement = { name: 'blob_directory.find', text: 'select marker from blob_directory where id = 1' };
const LOCK: Statement = {
  name: 'blob_directory.lock',
  text: 'lock table blob_directory in share row exclusive mode',
};
const ADD: Statement = { name: 'blob_directory.add', text: 'insert into blob_directory (marker) values ($1::uuid)' };

/** Stores the content of the marker file in the directory that this database uses for blobs. */
export class BlobDirectoryStore {
  constructor(private readonly database: Database) {}

  /** Returns the content of the marker, or null if this database has never used a directory. */
  async find(): Promise<string | null> {
    const [row] = await this.database.query<Pick<BlobDirectoryEntity, 'marker'>>(FIND);
    return row?.marker ?? null;
  }

  /**
   * Returns the content of the marker. If this database has never used a directory, stores what `begin` returns. One
   * process at a time calls `begin`, which creates the marker.
   */
  findOrAdd(begin: () => Promise<string>): Promise<string> {
    return this.database.unitOfWork(() =>
      this.database.transaction(async () => {
        await this.database.query(LOCK);
        const known = await this.find();
        if (known !== null) return known;
        const marker = await begin();
        await this.database.query(ADD, [marker]);
        return marker;
      }),
    );
  }
}
