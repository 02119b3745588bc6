import { Injectable } from '@nestjs/common';
import { IsNull, LessThan } from 'typeorm';
import { Database, type Statement } from '#kernel/database/database.js';
import { TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import type { Id } from '#kernel/ids.js';
import { MemberEntity, type OrganizationEntity } from '../auth.entities.js';

export type MemberRow = Pick<
  MemberEntity,
  'organizationId' | 'id' | 'email' | 'name' | 'role' | 'createdAt' | 'lastSignedInAt'
>;

export interface MembershipRow extends Pick<MemberEntity, 'organizationId' | 'id' | 'role'> {
  organizationName: OrganizationEntity['name'];
}

const LOCK_ADMINS: Statement = {
  name: 'members.lock_admins',
  // Uses the index `members_pkey`. Locks in a fixed order, so that two concurrent removals do not deadlock.
  text: `select id from members where organization_id = $1::uuid and role = 'admin' and removed_at is null order by id for update`,
};

const OF_EMAIL: Statement = {
  name: 'members.of_email',
  // Uses the index `members_email_idx`.
  text: `
    select m.organization_id as "organizationId", o.name as "organizationName", m.id, m.role
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

const now = (): string => 'now()';

/** Members of organizations. No method returns removed members. */
@Injectable()
export class MembersStore {
  private readonly rows: TenantRepository<MemberEntity>;

  constructor(private readonly database: Database) {
    this.rows = new TenantRepository(database, MemberEntity);
  }

  insert(
    organizationId: Id,
    id: Id,
    { email, name, role }: Pick<MemberRow, 'email' | 'name' | 'role'>,
  ): Promise<MemberRow> {
    return this.database.transaction(async () => {
      await this.rows.insert({ organizationId, id, email, name, role, createdAt: now });
      return (await this.find(organizationId, id)) as MemberRow;
    });
  }

  /** Returns the member with this id, or null. Uses the index `members_pkey`. */
  find(organizationId: Id, id: Id): Promise<MemberRow | null> {
    return this.rows.findOne({ organizationId, id, removedAt: IsNull() });
  }

  /** Returns the member with this address, or null. Uses the index `members_email_idx`. */
  findByEmail(organizationId: Id, email: string): Promise<MemberRow | null> {
    return this.rows.findOne({ organizationId, email, removedAt: IsNull() });
  }

  /** Returns a page of members older than `before` (if given), newest first. Reads the index `members_pkey` backwards. */
  page(organizationId: Id, before: Id | null, rowsMax: number): Promise<MemberRow[]> {
    const where: TenantWhere<MemberEntity> = { organizationId, removedAt: IsNull() };
    if (before !== null) where.id = LessThan(before);
    return this.rows.find({ where, order: { id: 'DESC' }, take: rowsMax });
  }

  /** Changes a member and returns the row, or null if there is no such member. Uses the index `members_pkey`. */
  update(organizationId: Id, id: Id, changes: Partial<Pick<MemberRow, 'name' | 'role'>>): Promise<MemberRow | null> {
    const isChanged = changes.name !== undefined || changes.role !== undefined;
    return this.database.transaction(async () => {
      if (isChanged) await this.rows.update({ organizationId, id, removedAt: IsNull() }, changes);
      return this.find(organizationId, id);
    });
  }

  /** Marks a member as removed. Returns false if there is none. The row is kept for the audit log (`members_pkey`). */
  async remove(organizationId: Id, id: Id): Promise<boolean> {
    return (await this.rows.update({ organizationId, id, removedAt: IsNull() }, { removedAt: now })) > 0;
  }

  /** Locks the rows of the organization's admins until the transaction ends, and returns their ids. */
  async lockAdmins(organizationId: Id): Promise<Id[]> {
    return (await this.database.query<{ id: Id }>(LOCK_ADMINS, [organizationId])).map(({ id }) => id);
  }

  /**
   * Returns the memberships of an email address in one organization, or in all of them if `organizationSlug` is null.
   */
  ofEmail(email: string, organizationSlug: string | null): Promise<MembershipRow[]> {
    return this.database.query(OF_EMAIL, [email, organizationSlug]);
  }

  /** Returns the addresses of the admins and of the member with the address `email`, who comes first. */
  async listGrantNoticeRecipients(organizationId: Id, email: string, rowsMax: number): Promise<string[]> {
    return (
      await this.database.query<{ email: string }>(GRANT_NOTICE_RECIPIENTS, [organizationId, email, rowsMax])
    ).map((row) => row.email);
  }

  /** Records the time of a member's sign-in. Uses the index `members_pkey`. */
  async signedIn(organizationId: Id, id: Id): Promise<void> {
    await this.rows.update({ organizationId, id }, { lastSignedInAt: now });
  }
}
