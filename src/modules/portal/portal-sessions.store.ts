import { Injectable } from '@nestjs/common';
import type { Columns } from '#kernel/database/column-names.js';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { PortalPermission, Tenant } from '#kernel/tenant.js';
import type { PortalSessionEntity } from './portal.entities.js';
import type { PortalTheme } from './portal-theme.js';

/** Kind of session. A member of the organization opens a `preview` to see the portal as customers see it. */
export type PortalKind = 'customer' | 'preview';

export interface PortalFacts {
  id: Id;
  environment_id: number;
  mode: Tenant['mode'];
  organization_id: Id;
  organization_name: string;
  portal_origins: string[];
  application_id: Id;
  application_name: string;
  kind: PortalKind;
  permissions: PortalPermission[];
  theme: PortalTheme;
  locale: string;
  return_url: string | null;
  expires_at: Date;
}

export type PortalSessionRow = Columns<
  Pick<PortalSessionEntity, 'id' | 'applicationId' | 'kind' | 'permissions' | 'openedBy' | 'createdAt' | 'expiresAt'>
>;

export interface NewPortalSession {
  environmentId: number;
  applicationId: Id;
  id: Id;
  hash: Buffer;
  kind: PortalKind;
  permissions: readonly PortalPermission[];
  theme: PortalTheme;
  locale: string;
  returnUrl: string | null;
  openedBy: string;
  keyId: Id | null;
  memberId: Id | null;
  lifetimeSeconds: number;
}

const INSERT: Statement = {
  name: 'portal_sessions.insert',
  text: `
    insert into portal_sessions (environment_id, id, application_id, hash, kind, permissions, theme, locale,
      return_url, opened_by, key_id, member_id, created_at, expires_at)
    values ($1::int, $2::uuid, $3::uuid, $4::bytea, $5, $6::text[], $7::jsonb, $8, $9, $10, $11::uuid, $12::uuid,
      now(), now() + make_interval(secs => $13::float8))
    returning expires_at`,
};

/**
 * SQL condition: true until the API key that opened the session expires or is revoked, or the member who opened it is
 * removed.
 */
const OPENER_IN_FORCE = `
  (p.key_id is null or exists (select 1 from api_keys k where k.environment_id = p.environment_id and k.id = p.key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())))
  and (p.member_id is null or exists (select 1 from members m where m.organization_id = e.organization_id and m.id = p.member_id and m.removed_at is null))`;

const BY_HASH: Statement = {
  name: 'portal_sessions.by_hash',
  // Uses the indexes portal_sessions_hash_key, environments_pkey, organizations_pkey, applications_pkey, api_keys_pkey
  // and members_pkey.
  text: `
    select p.id, p.environment_id, e.mode, e.organization_id, o.name as organization_name, e.portal_origins,
      p.application_id, a.name as application_name,
      p.kind, p.permissions, p.theme, p.locale, p.return_url, p.expires_at
    from portal_sessions p
    join environments e on e.id = p.environment_id
    join organizations o on o.id = e.organization_id and o.removed_at is null
    join applications a on a.environment_id = p.environment_id and a.id = p.application_id
    where p.hash = $1::bytea and p.revoked_at is null and p.expires_at > now() and ${OPENER_IN_FORCE}`,
};

const ORIGINS: Statement = {
  name: 'portal_sessions.origins',
  // Uses the indexes portal_sessions_id_key and environments_pkey.
  text: `
    select e.portal_origins from portal_sessions p join environments e on e.id = p.environment_id
    where p.id = $1::uuid and p.kind = 'customer'`,
};

const SHOWN = 'p.id, p.application_id, p.kind, p.permissions, p.opened_by, p.created_at, p.expires_at';
const IN_FORCE = `p.revoked_at is null and p.expires_at > now() and ${OPENER_IN_FORCE}`;

const PAGE: Statement = {
  name: 'portal_sessions.page',
  // Reads the index portal_sessions_pkey in descending order.
  text: `
    select ${SHOWN} from portal_sessions p join environments e on e.id = p.environment_id
    where p.environment_id = $1::int and p.application_id = $2::uuid and ($3::uuid is null or p.id < $3) and ${IN_FORCE}
    order by p.id desc limit $4::int`,
};

const FIND: Statement = {
  name: 'portal_sessions.find',
  // Uses the index portal_sessions_pkey.
  text: `
    select ${SHOWN} from portal_sessions p join environments e on e.id = p.environment_id
    where p.environment_id = $1::int and p.application_id = $2::uuid and p.id = $3::uuid and ${IN_FORCE}`,
};

const REVOKE: Statement = {
  name: 'portal_sessions.revoke',
  // Uses the index portal_sessions_pkey.
  text: `
    update portal_sessions set revoked_at = now()
    where environment_id = $1::int and application_id = $2::uuid and ($3::uuid is null or id = $3)
      and revoked_at is null and expires_at > now()
    returning hash, id`,
};

const PURGE: Statement = {
  name: 'portal_sessions.purge',
  // Uses the index portal_sessions_expires_at_idx. Ended sessions are kept for 30 days, because the audit log refers to
  // them.
  text: `delete from portal_sessions where expires_at < now() - interval '30 days'`,
};

@Injectable()
export class PortalSessionsStore {
  constructor(private readonly database: Database) {}

  /** Inserts a session. Returns the time at which the session expires. */
  async insert(session: NewPortalSession): Promise<Date> {
    const {
      environmentId,
      id,
      applicationId,
      hash,
      kind,
      permissions,
      theme,
      locale,
      returnUrl,
      openedBy,
      keyId,
      memberId,
      lifetimeSeconds,
    } = session;
    const [row] = await this.database.query<{ expires_at: Date }>(INSERT, [
      environmentId,
      id,
      applicationId,
      hash,
      kind,
      permissions,
      JSON.stringify(theme),
      locale,
      returnUrl,
      openedBy,
      keyId,
      memberId,
      lifetimeSeconds,
    ]);
    if (row === undefined) throw new Error('The session of a portal was not stored.');
    return row.expires_at;
  }

  async byHash(hash: Buffer): Promise<PortalFacts | null> {
    const [facts] = await this.database.query<PortalFacts>(BY_HASH, [hash]);
    return facts ?? null;
  }

  /** Returns the origins that may frame a customer's portal session. Returns none for a preview or an unknown id. */
  async origins(id: Id): Promise<string[]> {
    const [row] = await this.database.query<{ portal_origins: string[] }>(ORIGINS, [id]);
    return row?.portal_origins ?? [];
  }

  page(environmentId: number, applicationId: Id, before: Id | null, rowsMax: number): Promise<PortalSessionRow[]> {
    return this.database.query(PAGE, [environmentId, applicationId, before, rowsMax]);
  }

  async find(environmentId: number, applicationId: Id, id: Id): Promise<PortalSessionRow | null> {
    const [row] = await this.database.query<PortalSessionRow>(FIND, [environmentId, applicationId, id]);
    return row ?? null;
  }

  /** Ends the session `id`, or all sessions if it is null. Returns the sessions that this call ended. */
  revoke(environmentId: number, applicationId: Id, id: Id | null): Promise<{ id: Id; hash: Buffer }[]> {
    return this.database.query(REVOKE, [environmentId, applicationId, id]);
  }

  async purge(): Promise<void> {
    await this.database.query(PURGE);
  }
}
