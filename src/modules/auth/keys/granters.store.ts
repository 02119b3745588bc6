import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';
import type { KeyGranter } from '#modules/auth/granted-keys.contract.js';

export interface GranterFacts {
  scope: Scope;
  expiresAt: Date | null;
}

const MEMBER: Statement = {
  name: 'granters.member',
  // Locks the rows, so that a concurrent removal of the approver completes either before or after the key is issued.
  // Uses the indexes `environments_pkey` and `members_pkey`.
  text: `
    select m.role as scope, null::timestamptz as "expiresAt"
    from environments e join organizations o on o.id = e.organization_id join members m on m.organization_id = o.id
    where e.id = $1::int and m.id = $2::uuid and m.removed_at is null and o.removed_at is null
    for share of m, o`,
};

const KEY: Statement = {
  name: 'granters.key',
  // Locks the rows, so that the approver's key cannot be revoked at the same time. Uses the index `api_keys_pkey`.
  text: `
    select k.scope, k.expires_at as "expiresAt"
    from api_keys k join environments e on e.id = k.environment_id join organizations o on o.id = e.organization_id
    where k.environment_id = $1::int and k.id = $2::uuid and k.revoked_at is null and (k.expires_at is null
      or k.expires_at > now()) and o.removed_at is null
    for share of k, o`,
};

/**
 * SQL that finds all keys granted with a given API key, directly or through other granted keys. Does not follow
 * rotations of the given key. Uses `api_keys_granter_key_idx`.
 */
const OF_KEY = `
    with recursive granted as (
      select environment_id, id from api_keys where environment_id = $1::int and granter_key_id = $2::uuid
      union
      select k.environment_id, k.id from api_keys k join granted g on k.environment_id = g.environment_id
        and k.granter_key_id = g.id
    )`;

const REVOKE_OF_KEY: Statement = {
  name: 'granters.revoke_of_key',
  text: `${OF_KEY}
    update api_keys k set revoked_at = now() from granted g
    where k.environment_id = g.environment_id and k.id = g.id and k.revoked_at is null
    returning encode(k.hash, 'hex') as hash`,
};

const REVOKE_OF_GRANT: Statement = {
  name: 'granters.revoke_of_grant',
  // Uses the indexes `api_keys_pkey`, `api_keys_first_key_idx` and `api_keys_granter_key_idx`.
  text: `
    with recursive granted as (
      select environment_id, id from api_keys where environment_id = $1::int and (id = $2::uuid
        or first_key_id = $2::uuid)
      union
      select k.environment_id, k.id from api_keys k join granted g on k.environment_id = g.environment_id
        and k.granter_key_id = g.id
    )
    update api_keys k set revoked_at = now() from granted g
    where k.environment_id = g.environment_id and k.id = g.id and k.revoked_at is null
    returning encode(k.hash, 'hex') as hash`,
};

const EXPIRE_OF_KEY: Statement = {
  name: 'granters.expire_of_key',
  text: `${OF_KEY}
    update api_keys k set expires_at = least(k.expires_at, $3::timestamptz) from granted g
    where k.environment_id = g.environment_id and k.id = g.id and k.revoked_at is null
    returning encode(k.hash, 'hex') as hash`,
};

const REVOKE_OF_MEMBER: Statement = {
  name: 'granters.revoke_of_member',
  // Uses the indexes `api_keys_granter_member_idx` and `api_keys_granter_key_idx`.
  text: `
    with recursive granted as (
      select k.environment_id, k.id from api_keys k join environments e on e.id = k.environment_id
      where e.organization_id = $1::uuid and k.granter_member_id = $2::uuid and k.scope = any($3::text[])
      union
      select k.environment_id, k.id from api_keys k join granted g on k.environment_id = g.environment_id
        and k.granter_key_id = g.id
    )
    update api_keys k set revoked_at = now() from granted g
    where k.environment_id = g.environment_id and k.id = g.id and k.revoked_at is null
    returning encode(k.hash, 'hex') as hash`,
};

/**
 * Reads and locks the approvers of OAuth grants, and revokes the API keys that they granted. Methods that change keys
 * return the SHA-256 hashes of these keys. The caller must publish the hashes, so that all nodes evict the keys from
 * their caches.
 */
@Injectable()
export class GrantersStore {
  constructor(private readonly database: Database) {}

  /**
   * Locks the approver (a member or a key) and returns its scope and expiry. Returns `null` if the approver was removed
   * or revoked.
   */
  async inForce(environmentId: number, { memberId, keyId }: KeyGranter): Promise<GranterFacts | null> {
    const [found] = await this.database.query<GranterFacts>(memberId === null ? KEY : MEMBER, [
      environmentId,
      memberId ?? keyId,
    ]);
    return found ?? null;
  }

  revokeOfKey(environmentId: number, keyId: Id): Promise<string[]> {
    return this.hashes(REVOKE_OF_KEY, [environmentId, keyId]);
  }

  /**
   * Revokes the first key of a grant, the rotations of that key, and all keys granted with one of these keys. Returns
   * the hashes of the revoked keys.
   */
  revokeOfGrant(environmentId: number, firstKeyId: Id): Promise<string[]> {
    return this.hashes(REVOKE_OF_GRANT, [environmentId, firstKeyId]);
  }

  /** Makes all keys granted with the given key expire no later than `at`. Returns the hashes of the changed keys. */
  expireOfKey(environmentId: number, keyId: Id, at: Date): Promise<string[]> {
    return this.hashes(EXPIRE_OF_KEY, [environmentId, keyId, at]);
  }

  /**
   * Revokes the keys with one of `scopes` that a member granted, and all keys granted with these keys. Returns the
   * hashes of the revoked keys.
   */
  revokeOfMember(organizationId: Id, memberId: Id, scopes: readonly Scope[]): Promise<string[]> {
    return this.hashes(REVOKE_OF_MEMBER, [organizationId, memberId, scopes]);
  }

  private async hashes(statement: Statement, values: unknown[]): Promise<string[]> {
    return (await this.database.query<{ hash: string }>(statement, values)).map(({ hash }) => hash);
  }
}
