import type { Database, Statement } from '#kernel/database/database.js';
import type { BlobDirectoryEntity } from './blobs.entities.js';

// All statements use the index blob_directories_pkey.
const FIND: Statement = {
  name: 'blob_directories.find',
  text: 'select id from blob_directories where path = $1::text',
};
const LOCK: Statement = {
  name: 'blob_directories.lock',
  text: 'lock table blob_directories in share row exclusive mode',
};
const ADD: Statement = {
  name: 'blob_directories.add',
  text: 'insert into blob_directories (path, id) values ($1::text, $2::uuid)',
};

/** Stores which directories this database has used for blobs, with the id in the marker file of each. */
export class BlobDirectoriesStore {
  constructor(private readonly database: Database) {}

  /** Returns the id of the directory at this path, or null if this database has never used it. */
  async find(path: string): Promise<string | null> {
    const [row] = await this.database.query<Pick<BlobDirectoryEntity, 'id'>>(FIND, [path]);
    return row?.id ?? null;
  }

  /**
   * Returns the id of the directory at this path. If this database has never used it, stores the id that `begin`
   * returns. One process at a time calls `begin`, which creates the marker file.
   */
  findOrAdd(path: string, begin: () => Promise<string>): Promise<string> {
    return this.database.unitOfWork(() =>
      this.database.transaction(async () => {
        await this.database.query(LOCK);
        const known = await this.find(path);
        if (known !== null) return known;
        const id = await begin();
        await this.database.query(ADD, [path, id]);
        return id;
      }),
    );
  }
}
