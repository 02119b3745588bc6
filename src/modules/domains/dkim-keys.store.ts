import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';

export interface StoredDkimKey {
  selector: string;
  publicKey: string;
  /** Private key in PKCS #8, encrypted. */
  privateKey: Buffer;
  /**
   * The `current` key signs. The `idle` key does not sign, but mail in transit may still be verified with its record.
   * The `next` key signs once its record is published.
   */
  state: 'current' | 'idle' | 'next';
}

const LOCK: Statement = {
  name: 'dkim_keys.lock',
  text: `select pg_advisory_xact_lock(hashtext('posthorn dkim keys'))`,
};

const LIST: Statement = {
  name: 'dkim_keys.list',
  // Uses no index: the table has two rows, and all rows are read.
  text: 'select selector, public_key as "publicKey", private_key as "privateKey", state from dkim_keys order by selector',
};

const PUT: Statement = {
  name: 'dkim_keys.put',
  // Uses the index dkim_keys_pkey.
  text: `
    insert into dkim_keys (selector, public_key, private_key, state, made_at) values ($1, $2, $3, $4, now())
    on conflict (selector) do update
    set public_key = excluded.public_key, private_key = excluded.private_key, state = excluded.state, made_at = now()`,
};

/**
 * Makes the current key idle. Runs before another key becomes current, because a unique index allows only one current
 * key.
 */
const RETIRE: Statement = {
  name: 'dkim_keys.retire',
  text: `update dkim_keys set state = 'idle' where state = 'current'`,
};
const PROMOTE: Statement = {
  name: 'dkim_keys.promote',
  text: `update dkim_keys set state = 'current' where selector = $1`,
};

@Injectable()
export class DkimKeysStore {
  constructor(private readonly database: Database) {}

  list(): Promise<StoredDkimKey[]> {
    return this.database.query<StoredDkimKey>(LIST);
  }

  /**
   * Runs `work` while no other process can create or rotate keys, and returns its result. Always uses a separate
   * transaction. Otherwise, the rollback of a caller's transaction could remove a key that is already cached.
   */
  locked<T>(work: () => Promise<T>): Promise<T> {
    return this.database.unitOfWork(() =>
      this.database.transaction(async () => {
        await this.database.query(LOCK);
        return work();
      }),
    );
  }

  async put({ selector, publicKey, privateKey, state }: StoredDkimKey): Promise<void> {
    await this.database.query(PUT, [selector, publicKey, privateKey, state]);
  }

  /** Makes a key the current key. Must be called inside `locked`. */
  async makeCurrent(selector: string): Promise<void> {
    await this.database.query(RETIRE);
    await this.database.query(PROMOTE, [selector]);
  }
}
