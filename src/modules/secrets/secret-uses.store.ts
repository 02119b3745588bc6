import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { type SecretUser } from '#modules/secrets/contract.js';

const LOCK_NAMED: Statement = {
  name: 'secret_uses.lock_named',
  // Uses the index secrets_environment_id_name_key. Locks rows in a fixed order, so that two transactions that use the
  // same secrets do not deadlock.
  text: `
    select id, name from secrets where environment_id = $1::int and name = any($2::text[])
    order by id for key share`,
};

const RELEASE_OTHERS: Statement = {
  name: 'secret_uses.release_others',
  // Uses the index secret_uses_user_idx.
  text: `
    delete from secret_uses
    where environment_id = $1::int and user_kind = $2 and user_id = $3::uuid and not secret_id = any($4::uuid[])`,
};

const RECORD: Statement = {
  name: 'secret_uses.record',
  text: `
    insert into secret_uses (environment_id, secret_id, user_kind, user_id)
    select $1::int, secret_id, $2, $3::uuid from unnest($4::uuid[]) as u (secret_id)
    on conflict do nothing`,
};

const USERS: Statement = {
  name: 'secret_uses.users',
  // Uses the index secret_uses_pkey.
  text: `
    select user_kind as kind, user_id as id from secret_uses
    where environment_id = $1::int and secret_id = $2::uuid
    order by user_kind, user_id limit $3::int`,
};

/**
 * Stores which resources use which secrets. While a use is recorded, a foreign key prevents the deletion of the secret.
 */
@Injectable()
export class SecretUsesStore {
  constructor(private readonly database: Database) {}

  /**
   * Records that a resource uses exactly these secrets. To remove all uses when a resource is deleted, pass an empty
   * list.
   *
   * Call this in the transaction that changes the resource. Until it ends, the secrets can be neither deleted nor
   * changed. Returns the names that do not exist. If any name is missing, records nothing, and the caller throws 422.
   */
  async replace(environmentId: number, { kind, id }: SecretUser, names: readonly string[]): Promise<readonly string[]> {
    const found =
      names.length > 0 ? await this.database.query<{ id: Id; name: string }>(LOCK_NAMED, [environmentId, names]) : [];
    const known = new Set(found.map(({ name }) => name));
    const unknown = [...new Set(names)].filter((name) => !known.has(name));
    if (unknown.length > 0) return unknown;
    const secretIds = found.map((secret) => secret.id);
    await this.database.query(RELEASE_OTHERS, [environmentId, kind, id, secretIds]);
    if (secretIds.length > 0) await this.database.query(RECORD, [environmentId, kind, id, secretIds]);
    return [];
  }

  /** Returns the resources that use a secret, ordered by kind and age. */
  users(environmentId: number, secretId: Id, usersMax: number): Promise<SecretUser[]> {
    return this.database.query<SecretUser>(USERS, [environmentId, secretId, usersMax]);
  }
}
