import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

export interface MemberRow {
  organization_id: Id;
  id: Id;
  email: string;
  name: string;
  role: Scope;
  created_at: Date;
  last_signed_in_at: Date | null;
}

export interface MembershipRow {
  organization_id: Id;
  organization_name: string;
  id: Id;
  role: Scope;
}

const COLUMNS = 'organization_id, id, email, name, role, created_at, last_signed_in_at';

const INSERT: Statement = {
  name: 'members.insert',
  text: `
    insert into members (organization_id, id, email, name, role, created_at) values ($1::uuid, $2::uuid, $3, $4, $5,
      now())
    returning ${COLUMNS}`,
};

const FIND: Statement = {
  name: 'members.find',
  // Uses the index `members_pkey`.
  text: `select ${COLUMNS} from members where organization_id = $1::uuid and id = $2::uuid and removed_at is null`,
};

const FIND_BY_EMAIL: Statement = {
  name: 'members.find_by_email',
  // Uses the index `members_email_idx`.
  text: `select ${COLUMNS} from members where organization_id = $1::uuid and email = $2 and removed_at is null`,
};

const PAGE: Statement = {
  name: 'members.page',
  // Uses the index `members_pkey`, backwards.
  text: `
    select ${COLUMNS} from members
    where organization_id = $1::uuid and ($2::uuid is null or id < $2) and removed_at is null
    order by id desc limit $3::int`,
};

const UPDATE: Statement = {
  name: 'members.update',
  // Uses the index `members_pkey`.
  text: `
    update members set name = coalesce($3, name), role = coalesce($4, role)
    where organization_id = $1::uuid and id = $2::uuid and removed_at is null
    returning ${COLUMNS}`,
};

const REMOVE: Statement = {
  name: 'members.remove',
  // Uses the index `members_pkey`. The row is kept, because the audit log refers to it.
  text: 'update members set removed_at = now() where organization_id = $1::uuid and id = $2::uuid and removed_at is null returning id',
};

const LOCK_ADMINS: Statement = {
  name: 'members.lock_admins',
  // Uses the index `members_pkey`. Locks in a fixed order, so that two concurrent removals do not deadlock.
  text: `select id from members where organization_id = $1::uuid and role = 'admin' and removed_at is null order by id for update`,
};

const OF_EMAIL: Statement = {
  name: 'members.of_email',
  // Uses the index `members_email_idx`.
  text: `
    select m.organization_id, o.name as organization_name, m.id, m.role
    from members m join organizations o on o.id = m.organization_id and o.removed_at is null
    where m.email = $1 and m.removed_at is null and ($2::text is null or o.slug = $2)
    order by o.name, o.id`,
};

const GRANT_NOTICE_RECIPIENTS: Statement = {
  name: 'members.grant_notice_recipients',
  // Uses the index `members_pkey`.
  text: `
    select email from members where organization_id = $1::uuid and removed_at is null and (role = 'admin' or email = $2)
    order by email = $2 desc, id limit $3::int`,
};

const SIGNED_IN: Statement = {
  name: 'members.signed_in',
  // Uses the index `members_pkey`.
  text: 'update members set last_signed_in_at = now() where organization_id = $1::uuid and id = $2::uuid',
};

/** Members of organizations. No method returns removed members. */
@Injectable()
export class MembersStore {
  constructor(private readonly database: Database) {}

  async insert(
    organizationId: Id,
    id: Id,
    { email, name, role }: Pick<MemberRow, 'email' | 'name' | 'role'>,
  ): Promise<MemberRow> {
    const [row] = await this.database.query<MemberRow>(INSERT, [organizationId, id, email, name, role]);
    return row as MemberRow;
  }

  async find(organizationId: Id, id: Id): Promise<MemberRow | null> {
    return (await this.database.query<MemberRow>(FIND, [organizationId, id]))[0] ?? null;
  }

  async findByEmail(organizationId: Id, email: string): Promise<MemberRow | null> {
    return (await this.database.query<MemberRow>(FIND_BY_EMAIL, [organizationId, email]))[0] ?? null;
  }

  /** Returns a page of members older than `before` (if given), newest first. */
  page(organizationId: Id, before: Id | null, rowsMax: number): Promise<MemberRow[]> {
    return this.database.query(PAGE, [organizationId, before, rowsMax]);
  }

  async update(organizationId: Id, id: Id, { name, role }: { name?: string; role?: Scope }): Promise<MemberRow | null> {
    return (await this.database.query<MemberRow>(UPDATE, [organizationId, id, name ?? null, role ?? null]))[0] ?? null;
  }

  async remove(organizationId: Id, id: Id): Promise<boolean> {
    return (await this.database.query(REMOVE, [organizationId, id])).length > 0;
  }

  /** Locks the rows of the organization's admins until the transaction ends, and returns their ids. */
  async lockAdmins(organizationId: Id): Promise<Id[]> {
    return (await this.database.query<{ id: Id }>(LOCK_ADMINS, [organizationId])).map(({ id }) => id);
  }

  /** Returns the memberships of an address in one organization, or in all of them if `organizationSlug` is null. */
  ofEmail(email: string, organizationSlug: string | null): Promise<MembershipRow[]> {
    return this.database.query(OF_EMAIL, [email, organizationSlug]);
  }

  /** Returns the addresses of the admins and of the given member, who comes first. */
  async listGrantNoticeRecipients(organizationId: Id, email: string, rowsMax: number): Promise<string[]> {
    return (
      await this.database.query<{ email: string }>(GRANT_NOTICE_RECIPIENTS, [organizationId, email, rowsMax])
    ).map((row) => row.email);
  }

  async signedIn(organizationId: Id, id: Id): Promise<void> {
    await this.database.query(SIGNED_IN, [organizationId, id]);
  }
}
