import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../database/database.js';
import type { DataKeyEntity } from './keyring.entities.js';
import { sealedIn } from './sealed-value.js';

export interface WrappedKey {
  id: number;
  wrapped: Buffer;
}

export interface SealedValue {
  sealed: Buffer;
  context: string;
}

const LOCK: Statement = { name: 'keyring.lock', text: `select pg_advisory_xact_lock(hashtext('posthorn keyring'))` };

// Reads the whole table, which has only a few rows.
const LIST: Statement = { name: 'keyring.list', text: 'select id, wrapped from data_keys order by id' };

const INSERT: Statement = {
  name: 'keyring.insert',
  text: 'insert into data_keys (id, wrapped, created_at) values ($1::int, $2::bytea, now()) on conflict (id) do nothing',
};

const REPLACE: Statement = {
  name: 'keyring.replace',
  // The statement uses the index data_keys_pkey.
  text: `
    update data_keys k set wrapped = n.wrapped
    from unnest($1::int[], $2::bytea[]) as n (id, wrapped) where k.id = n.id`,
};

const OLDEST_SECRET: Statement = {
  name: 'keyring.oldest_secret',
  // Uses the index environments_pkey. The secret is never null: since the first release, every environment has had one.
  text: 'select id, secret from environments order by id limit 1',
};

const PEERS: Statement = {
  name: 'keyring.peers',
  text: `select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'posthorn-listen'`,
};

@Injectable()
export class KeyringStore {
  constructor(private readonly database: Database) {}

  list(): Promise<WrappedKey[]> {
    return this.database.query<Pick<DataKeyEntity, 'id' | 'wrapped'>>(LIST);
  }

  /** Runs `work` under a lock: no other process can add or replace a data key during the transaction. */
  locked<T>(work: () => Promise<T>): Promise<T> {
    return this.database.transaction(async () => {
      await this.database.query(LOCK);
      return work();
    });
  }

  async insert({ id, wrapped }: WrappedKey): Promise<void> {
    await this.database.query(INSERT, [id, wrapped]);
  }

  async replace(keys: readonly WrappedKey[]): Promise<void> {
    await this.database.query(REPLACE, [keys.map(({ id }) => id), keys.map(({ wrapped }) => wrapped)]);
  }

  /** Returns the oldest encrypted value: the signing secret of the first environment. Null on a new installation. */
  async oldestSecret(): Promise<SealedValue | null> {
    const [row] = await this.database.query<{ id: number; secret: Buffer }>(OLDEST_SECRET);
    return row
      ? {
          sealed: row.secret,
          context: sealedIn({ table: 'environments', environmentId: row.id, id: '', column: 'secret' }),
        }
      : null;
  }

  async peers(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(PEERS);
    return row?.count ?? 0;
  }
}
