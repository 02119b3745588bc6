import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';

/** A row of `dkim_keys`. */
export interface StoredDkimKey {
  selector: string;
  publicKey: string;
  /** PKCS #8, sealed. */
  privateKey: Buffer;
  /** `current` signs; `idle` may still be in signatures under way; `next` signs once its record is seen. */
  state: 'current' | 'idle' | 'next';
}

const LOCK: Statement = {
  name: 'dkim_keys.lock',
  text: `select pg_advisory_xact_lock(hashtext('posthorn dkim keys'))`,
};

const LIST: Statement = {
  name: 'dkim_keys.list',
  // Two rows: the table is read whole.
  text: 'select selector, public_key as "publicKey", private_key as "privateKey", state from dkim_keys order by selector',
};

const PUT: Statement = {
  name: 'dkim_keys.put',
  // Index dkim_keys_pkey.
  text: `
    insert into dkim_keys (selector, public_key, private_key, state, made_at) values ($1, $2, $3, $4, now())
    on conflict (selector) do update
    set public_key = excluded.public_key, private_key = excluded.private_key, state = excluded.state, made_at = now()`,
};

/** The one that signed first, then the other: only one of them is current at any moment. */
const RETIRE: Statement = {
  name: 'dkim_keys.retire',
  text: `update dkim_keys set state = 'idle' where state = 'current'`,
};
const PROMOTE: Statement = {
  name: 'dkim_keys.promote',
  text: `update dkim_keys set state = 'current' where selector = $1`,
};

/** The installation's two keys. */
@Injectable()
export class DkimKeysStore {
  constructor(private readonly database: Database) {}

  list(): Promise<StoredDkimKey[]> {
    return this.database.query<StoredDkimKey>(LIST);
  }

  /**
   * Runs `work` in a transaction in which nobody else makes or rotates keys. It is one of its own whoever calls: a key
   * that is remembered must not go with a caller's transaction that is rolled back.
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

  /** Inside `locked`. */
  async makeCurrent(selector: string): Promise<void> {
    await this.database.query(RETIRE);
    await this.database.query(PROMOTE, [selector]);
  }
}
