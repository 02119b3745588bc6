import { Injectable } from '@nestjs/common';
import { IsNull, LessThan, MoreThan, Or } from 'typeorm';
import { Database, type Statement } from '#kernel/database/database.js';
import { TenantRepository } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';
import type { GivenBack } from '#modules/auth/granted-keys.contract.js';
import { ApiKeyEntity, EnvironmentEntity } from '../auth.entities.js';

export interface KeyFacts {
  id: Id;
  environment_id: number;
  organization_id: Id;
  mode: 'live' | 'test';
  scope: Scope;
  hash: Buffer;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
}

export interface AdminKey {
  environment_id: number;
  id: Id;
  expires_at: Date | null;
  /** Key with which the approver of this key signed in. Revoking the approver's key also revokes this key. */
  granter_key_id: Id | null;
}

export interface KeyUse {
  environmentId: number;
  keyId: Id;
  at: Date;
}

const BY_HASH: Statement = {
  name: 'keys.by_hash',
  // Uses the index `api_keys_hash_key`.
  text: `
    select k.id, k.environment_id, e.organization_id, e.mode, k.scope, k.hash, k.last_used_at, k.expires_at,
      k.revoked_at
    from api_keys k join environments e on e.id = k.environment_id
    where k.hash = $1::bytea`,
};

const REVOKE: Statement = {
  name: 'keys.revoke',
  // Uses the index `api_keys_pkey`.
  text: `
    update api_keys set revoked_at = $3::timestamptz
    where environment_id = $1::int and id = $2::uuid and revoked_at is null
    returning hash`,
};

const OF_GRANT: Statement = {
  name: 'keys.of_grant',
  // Uses the index `api_keys_hash_key`.
  text: `
    select environment_id as "environmentId", id, coalesce(first_key_id, id) as "firstKeyId", client_id as "clientId",
      client_name as "clientName", granted_by as "grantedBy" from api_keys
    where hash = $1::bytea and source = 'oauth' and ($2::text is null or client_id = $2) and revoked_at is null`,
};

const GRANTED_TO: Statement = {
  name: 'keys.granted_to',
  // Uses the index `api_keys_pkey`, for each environment of an organization.
  text: `
    select 1 from api_keys k join environments e on e.id = k.environment_id
    where e.organization_id = $1::uuid and k.client_id = $2 and k.source = 'oauth' and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now())
    limit 1`,
};

const LOCK_ADMINS: Statement = {
  name: 'keys.lock_admins',
  // Uses the index `api_keys_pkey`, for each environment of an organization. Locks in a fixed order, so that two
  // concurrent revocations do not deadlock.
  text: `
    select k.environment_id, k.id, k.expires_at, k.granter_key_id
    from api_keys k join environments e on e.id = k.environment_id
    where e.organization_id = $1::uuid and k.scope = 'admin' and k.revoked_at is null and (k.expires_at is null
      or k.expires_at > now())
    order by k.environment_id, k.id
    for update of k`,
};

const NOTE_USES: Statement = {
  name: 'keys.note_uses',
  // Uses the index `api_keys_pkey`. If several processes record a use of the key in the same minute, only the first one
  // writes.
  text: `
    update api_keys k set last_used_at = u.at
    from unnest($1::int[], $2::uuid[], $3::timestamptz[]) as u (environment_id, id, at)
    where k.environment_id = u.environment_id and k.id = u.id
      and (k.last_used_at is null or k.last_used_at <= u.at - interval '1 minute')`,
};

@Injectable()
export class KeysStore {
  private readonly rows: TenantRepository<ApiKeyEntity>;
  private readonly environments: TenantRepository<EnvironmentEntity>;

  constructor(private readonly database: Database) {
    this.rows = new TenantRepository(database, ApiKeyEntity);
    this.environments = new TenantRepository(database, EnvironmentEntity);
  }

  /** Returns the key with this id, or null. Uses the index `api_keys_pkey`. */
  find(environmentId: number, id: Id): Promise<ApiKeyEntity | null> {
    return this.rows.findOne({ environmentId, id });
  }

  findForUpdate(environmentId: number, id: Id): Promise<ApiKeyEntity | null> {
    return this.rows.findForUpdate({ environmentId, id });
  }

  /** Returns a page of keys older than `before` (if given), newest first. Reads the index `api_keys_pkey` backwards. */
  page(environmentId: number, before: Id | null, rowsMax: number): Promise<ApiKeyEntity[]> {
    return this.rows.find({
      where: before === null ? { environmentId } : { environmentId, id: LessThan(before) },
      order: { id: 'DESC' },
      take: rowsMax,
    });
  }

  async insert(row: ApiKeyEntity): Promise<void> {
    await this.rows.insert(row);
  }

  async exists(hash: Buffer): Promise<boolean> {
    return (await this.byHash(hash)) !== null;
  }

  /** Revokes a key and returns its hash. Returns `null` if the key does not exist or is already revoked. */
  async revoke(environmentId: number, id: Id, at: Date): Promise<Buffer | null> {
    const [revoked] = await this.database.query<{ hash: Buffer }>(REVOKE, [environmentId, id, at]);
    return revoked?.hash ?? null;
  }

  /**
   * Returns the valid key with this hash if it was granted to an OAuth client, otherwise `null`. If `clientId` is
   * given, only a key of this client is returned.
   */
  async ofGrant(hash: Buffer, clientId: string | null): Promise<(GivenBack & { firstKeyId: Id }) | null> {
    return (await this.database.query<GivenBack & { firstKeyId: Id }>(OF_GRANT, [hash, clientId]))[0] ?? null;
  }

  async isGrantedTo(organizationId: Id, clientId: string): Promise<boolean> {
    return (await this.database.query(GRANTED_TO, [organizationId, clientId])).length > 0;
  }

  /** Returns the valid admin keys of an organization and locks their rows until the transaction ends. */
  lockAdmins(organizationId: Id): Promise<AdminKey[]> {
    return this.database.query(LOCK_ADMINS, [organizationId]);
  }

  /** Makes a key expire at `at`, unless the key expires earlier. Uses the index `api_keys_pkey`. */
  async expire(environmentId: number, id: Id, at: Date): Promise<void> {
    await this.rows.update({ environmentId, id, expiresAt: Or(IsNull(), MoreThan(at)) }, { expiresAt: at });
  }

  async byHash(hash: Buffer): Promise<KeyFacts | null> {
    const [facts] = await this.database.query<KeyFacts>(BY_HASH, [hash]);
    return facts ?? null;
  }

  async noteUses(uses: readonly KeyUse[]): Promise<void> {
    await this.database.query(NOTE_USES, [
      uses.map((use) => use.environmentId),
      uses.map((use) => use.keyId),
      uses.map((use) => use.at),
    ]);
  }

  /** Returns the id of an environment. Uses the index `environments_organization_id_mode_key`. */
  async environmentOf(organizationId: Id, mode: 'live' | 'test'): Promise<number> {
    const environment = await this.environments.findOne({ organizationId, mode });
    if (environment === null) throw new Error(`The organization has no environment ${mode}.`);
    return environment.id;
  }
}
