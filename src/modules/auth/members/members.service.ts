import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { Database, sqlState } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { ApiError, conflict, noSuch } from '#kernel/errors.js';
import { type Id, Ids } from '#kernel/ids.js';
import { grants, type Scope, SCOPES, type Tenant } from '#kernel/tenant.js';
import { type Membership, type Provisioned } from '#modules/auth/members.contract.js';
import { GrantersStore } from '../keys/granters.store.js';
import { OrganizationsStore } from '../organizations/own-organization.store.js';
import type { MemberRow } from './members.store.js';
import { MembersStore } from './members.store.js';

const LIMIT_DEFAULT = 50;
const LIST: CursorQuery = { list: 'members', filters: {} };
const UNIQUE_VIOLATION = '23505';

export interface NewMember {
  /** Email address in lower case. */
  email: string;
  name: string;
  role: Scope;
}

/** Members of the caller's organization. Members belong to both environments, so changes need a live key. */
@Injectable()
export class MembersService {
  constructor(
    private readonly store: MembersStore,
    private readonly organizations: OrganizationsStore,
    private readonly granters: GrantersStore,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly cursors: Cursors,
    private readonly ids: Ids,
  ) {}

  async list(
    tenant: Tenant,
    { cursor, limit = LIMIT_DEFAULT }: PageQuery,
  ): Promise<{ rows: MemberRow[]; nextCursor: string | null }> {
    const before = cursor === undefined ? null : this.cursors.read(tenant, LIST, cursor);
    const rows = await this.store.page(tenant.organizationId, before, limit + 1);
    return this.cursors.page(tenant, LIST, rows, limit, ({ id }) => id);
  }

  /** Returns a member. Throws 404 if there is no such member. */
  async find({ organizationId }: Tenant, id: Id): Promise<MemberRow> {
    const row = await this.store.find(organizationId, id);
    if (row === null) throw noSuch('member');
    return row;
  }

  /** Adds a member. Throws 403 for a test key, and 409 if the address already belongs to a member. */
  async add(tenant: Tenant, member: NewMember): Promise<MemberRow> {
    requireLive(tenant);
    return this.database.transaction(() => this.insert(tenant.organizationId, member));
  }

  /**
   * Changes a member. A new role applies to open sessions within five seconds. Revokes keys with a higher scope that
   * the member granted. Throws 403 for a test key, 404 for an unknown member, and 409 for the last admin.
   */
  async update(tenant: Tenant, id: Id, changes: { name?: string; role?: Scope }): Promise<MemberRow> {
    requireLive(tenant);
    return this.database.transaction(async () => {
      if (changes.role !== undefined && changes.role !== 'admin') await this.keepOneAdmin(tenant.organizationId, id);
      const row = await this.store.update(tenant.organizationId, id, changes);
      if (row === null) throw noSuch('member');
      await this.notifications.announce('member', id);
      await this.revokeGranted(row.organizationId, id, row.role);
      return row;
    });
  }

  /**
   * Removes a member, ends the member's sessions within five seconds on every node, and revokes the keys that the
   * member granted. Throws 403 for a test key, 404 for an unknown member, and 409 for the last admin.
   */
  async remove(tenant: Tenant, id: Id): Promise<void> {
    requireLive(tenant);
    await this.database.transaction(async () => {
      await this.keepOneAdmin(tenant.organizationId, id);
      if (!(await this.store.remove(tenant.organizationId, id))) throw noSuch('member');
      await this.notifications.announce('member', id);
      await this.revokeGranted(tenant.organizationId, id, null);
    });
  }

  /** Returns memberships sorted by organization name; empty for an unknown address. `email` must be in lower case. */
  findByEmail(email: string): Promise<Membership[]> {
    return this.openedBy(null, email);
  }

  haveSeveralOrganizations(): Promise<boolean> {
    return this.organizations.hasSeveral();
  }

  /**
   * Returns the memberships of an email address that an identity provider may sign in to: those in the provider's
   * organization, or all of them if the slug is null.
   */
  async openedBy(organizationSlug: string | null, email: string): Promise<Membership[]> {
    return (await this.store.ofEmail(email, organizationSlug)).map(
      ({ organizationId, organizationName, id, role }) => ({ organizationId, organizationName, memberId: id, role }),
    );
  }

  /**
   * Returns the addresses of at most `countMax` recipients of a notice about an OAuth grant: the organization's admins,
   * and `email` if it belongs to a member.
   */
  listGrantNoticeRecipients(organizationId: Id, email: string, countMax: number): Promise<string[]> {
    return this.store.listGrantNoticeRecipients(organizationId, email, countMax);
  }

  signedIn(organizationId: Id, memberId: Id): Promise<void> {
    return this.store.signedIn(organizationId, memberId);
  }

  /**
   * Creates the member, or gives the existing member the role that the identity provider reports. The last admin stays
   * an admin. A null `organizationSlug` means the oldest organization. Returns `null` if there is no organization.
   */
  async provision(organizationSlug: string | null, person: NewMember): Promise<Provisioned | null> {
    return this.database.transaction(async () => {
      const organization =
        organizationSlug === null
          ? await this.organizations.first()
          : await this.organizations.findBySlug(organizationSlug);
      if (organization === null) return null;
      const known = await this.store.findByEmail(organization.id, person.email);
      const row = known === null ? await this.insert(organization.id, person) : await this.follow(known, person.role);
      return {
        organizationId: organization.id,
        organizationName: organization.name,
        memberId: row.id,
        role: row.role,
        roleBefore: known?.role ?? null,
      };
    });
  }

  /** Applies the role that the identity provider reports, unless no admin would be left. Returns the member. */
  private async follow(known: MemberRow, role: Scope): Promise<MemberRow> {
    if (known.role === role) return known;
    const admins = known.role === 'admin' ? await this.store.lockAdmins(known.organizationId) : [];
    if (admins.length === 1) return known;
    await this.notifications.announce('member', known.id);
    await this.revokeGranted(known.organizationId, known.id, role);
    return (await this.store.update(known.organizationId, known.id, { role })) ?? known;
  }

  /**
   * Revokes the API keys that the member granted and whose scope the new role does not include. If `role` is null,
   * revokes all keys that the member granted.
   */
  private async revokeGranted(organizationId: Id, id: Id, role: Scope | null): Promise<void> {
    const tooMuch = SCOPES.filter((scope) => role === null || !grants(role, scope));
    if (tooMuch.length > 0)
      await this.notifications.announceAll('key', await this.granters.revokeOfMember(organizationId, id, tooMuch));
  }

  private async insert(organizationId: Id, member: NewMember): Promise<MemberRow> {
    try {
      return await this.store.insert(organizationId, this.ids.next(), member);
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
      throw conflict(`${member.email} is a member already.`, { email: member.email });
    }
  }

  private async keepOneAdmin(organizationId: Id, id: Id): Promise<void> {
    const admins = await this.store.lockAdmins(organizationId);
    if (admins.length !== 1 || admins[0] !== id) return;
    throw conflict('This is the last admin among the members. Make another member an admin first.');
  }
}

/** Throws 403 for a test key, which must not change data that belongs to both environments. */
export function requireLive({ mode }: Tenant): void {
  if (mode === 'live') return;
  throw new ApiError(
    'insufficient_scope',
    'This belongs to both environments of the organization: it needs a live admin key.',
    { required: 'admin', environment: 'live' },
  );
}
