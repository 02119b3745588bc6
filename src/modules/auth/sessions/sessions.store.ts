import { Injectable } from '@nestjs/common';
import { Raw } from 'typeorm';
import { Database, type Statement } from '#kernel/database/database.js';
import { TenantRepository } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';
import type { SignInWay } from '#modules/auth/sessions.contract.js';
import { SessionEntity } from '../auth.entities.js';

export interface SessionFacts {
  id: Id;
  organization_id: Id;
  organization_name: string;
  organization_slug: string;
  live_id: number;
  test_id: number;
  how: SignInWay;
  last_seen_at: Date;
  expires_at: Date;
  member_id: Id | null;
  email: string | null;
  member_name: string | null;
  role: Scope;
  key_id: Id | null;
  key_environment_id: number | null;
  key_name: string | null;
  key_expires_at: Date | null;
  key_mode: 'live' | 'test' | null;
}

export interface SessionRow {
  id: Id;
  how: SignInWay;
  member_id: Id | null;
  email: string | null;
  key_id: Id | null;
  network: string;
  user_agent: string;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
}

export interface NewSession extends Omit<SessionEntity, 'createdAt' | 'lastSeenAt' | 'expiresAt' | 'revokedAt'> {
  lifetimeSeconds: number;
}

const BY_HASH: Statement = {
  name: 'sessions.by_hash',
  // Uses the indexes `sessions_hash_key`, `environments_organization_id_mode_key`, `members_pkey` and `api_keys_pkey`.
  // A session whose member was removed or whose key was revoked is not active.
  text: `
    select s.id, s.organization_id, o.name as organization_name, o.slug as organization_slug, l.id as live_id,
      t.id as test_id, s.how, s.last_seen_at, s.expires_at,
      m.id as member_id, m.email, m.name as member_name, coalesce(m.role, k.scope) as role,
      k.id as key_id, k.environment_id as key_environment_id, k.name as key_name, k.expires_at as key_expires_at,
        e.mode as key_mode
    from sessions s
    join organizations o on o.id = s.organization_id and o.removed_at is null
    join environments l on l.organization_id = o.id and l.mode = 'live'
    join environments t on t.organization_id = o.id and t.mode = 'test'
    left join members m on m.organization_id = s.organization_id and m.id = s.member_id and m.removed_at is null
    left join (api_keys k join environments e on e.id = k.environment_id)
      on k.environment_id = s.key_environment_id and k.id = s.key_id and k.revoked_at is null
    where s.hash = $1::bytea and s.revoked_at is null and s.expires_at > now() and (m.id is not null
      or k.id is not null)`,
};

const REVOKE_BY_HASH: Statement = {
  name: 'sessions.revoke_by_hash',
  // Uses the index `sessions_hash_key`.
  text: 'update sessions set revoked_at = now() where hash = $1::bytea and revoked_at is null returning organization_id, id, member_id, key_id',
};

const REVOKE: Statement = {
  name: 'sessions.revoke',
  // Uses the indexes `sessions_pkey` and `members_pkey`.
  text: `
    update sessions set revoked_at = now()
    where organization_id = $1::uuid and id = $2::uuid and revoked_at is null and expires_at > now()
    returning hash, id, how, member_id, (select email from members m where m.organization_id = $1::uuid
      and m.id = member_id) as email, key_id, network, user_agent,
      created_at, last_seen_at, expires_at`,
};

/** Selects active sessions, newest first. Uses the index `sessions_pkey`, backwards. */
const PAGE: Statement = {
  name: 'sessions.page',
  text: `
    select s.id, s.how, s.member_id, m.email, s.key_id, s.network, s.user_agent, s.created_at, s.last_seen_at,
      s.expires_at
    from sessions s
    left join members m on m.organization_id = s.organization_id and m.id = s.member_id
    left join api_keys k on k.environment_id = s.key_environment_id and k.id = s.key_id
    where s.organization_id = $1::uuid and ($2::uuid is null or s.id < $2) and s.revoked_at is null
      and s.expires_at > now()
      and s.last_seen_at > now() - make_interval(secs => $4::float8) and m.removed_at is null and k.revoked_at is null
    order by s.id desc limit $3::int`,
};

const PURGE: Statement = {
  name: 'sessions.purge',
  // Deletes sessions 30 days after they expired, to allow investigations. Uses the index `sessions_expires_at_idx`.
  text: `delete from sessions where expires_at < now() - interval '30 days'`,
};

@Injectable()
export class SessionsStore {
  private readonly rows: TenantRepository<SessionEntity>;

  constructor(private readonly database: Database) {
    this.rows = new TenantRepository(database, SessionEntity);
  }

  async insert({ lifetimeSeconds, ...session }: NewSession): Promise<void> {
    await this.rows.insert({
      ...session,
      createdAt: () => 'now()',
      lastSeenAt: () => 'now()',
      expiresAt: () => `now() + make_interval(secs => ${Number(lifetimeSeconds)})`,
    });
  }

  async byHash(hash: Buffer): Promise<SessionFacts | null> {
    const [facts] = await this.database.query<SessionFacts>(BY_HASH, [hash]);
    return facts ?? null;
  }

  /**
   * Records a use of the session. If several processes record a use in the same minute, only the first one writes. Uses
   * the index `sessions_pkey`.
   */
  async touch(organizationId: Id, id: Id): Promise<void> {
    const isOld = Raw((lastSeenAt) => `${lastSeenAt} < now() - interval '30 seconds'`);
    await this.rows.update({ organizationId, id, lastSeenAt: isOld }, { lastSeenAt: () => 'now()' });
  }

  /** Revokes the session with this token hash and returns its owner, or `null` if the session was not active. */
  async revokeByHash(
    hash: Buffer,
  ): Promise<{ organization_id: Id; id: Id; member_id: Id | null; key_id: Id | null } | null> {
    const [revoked] = await this.database.query<{
      organization_id: Id;
      id: Id;
      member_id: Id | null;
      key_id: Id | null;
    }>(REVOKE_BY_HASH, [hash]);
    return revoked ?? null;
  }

  /** Revokes a session and returns it, or `null` if the session was not active. */
  async revoke(organizationId: Id, id: Id): Promise<(SessionRow & { hash: Buffer }) | null> {
    const [revoked] = await this.database.query<SessionRow & { hash: Buffer }>(REVOKE, [organizationId, id]);
    return revoked ?? null;
  }

  page(organizationId: Id, before: Id | null, rowsMax: number, idleSeconds: number): Promise<SessionRow[]> {
    return this.database.query(PAGE, [organizationId, before, rowsMax, idleSeconds]);
  }

  async purge(): Promise<void> {
    await this.database.query(PURGE);
  }
}
