import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { DOMAINS_REQUIRED, lacksDomains } from '#kernel/config/oidc-provider.js';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { Database, sqlState } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { conflict, noSuch } from '#kernel/errors.js';
import { type Id, Ids, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { KeyIssuer } from '../keys/key-issuer.js';
import { KeysStore } from '../keys/keys.store.js';
import type { MemberRow } from '../members/members.store.js';
import { MembersStore } from '../members/members.store.js';
import { OrganizationFounder } from './organization-founder.js';
import { type OrgRow, OrgsStore } from './organizations.store.js';
import { OrganizationsStore } from './own-organization.store.js';

const LIMIT_DEFAULT = 50;
const LIST: CursorQuery = { list: 'orgs', filters: {} };
/**
 * Placeholder for the tenant in the cursors of the operator's organization list, because this list belongs to no
 * tenant.
 */
const OPERATOR: Tenant = { environmentId: 0, organizationId: '', mode: 'live' };
const UNIQUE_VIOLATION = '23505';

export interface NewOrganization {
  slug: string;
  name: string;
  /** First admin of the organization. The address is in lower case. */
  admin: { email: string; name: string };
}

export interface MadeOrganization {
  organization: OrgRow;
  admin: MemberRow;
  /** Keys whose text is returned only once. */
  keys: { live: string; test: string };
}

/** Creates and removes organizations for the operator. Reads and writes no data of a tenant. */
@Injectable()
export class OrgsService {
  constructor(
    private readonly store: OrgsStore,
    private readonly organizations: OrganizationsStore,
    private readonly founder: OrganizationFounder,
    private readonly members: MembersStore,
    private readonly keys: KeysStore,
    private readonly issuer: KeyIssuer,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly cursors: Cursors,
    private readonly ids: Ids,
    private readonly config: Config,
  ) {}

  async list({ cursor, limit = LIMIT_DEFAULT }: PageQuery): Promise<{ rows: OrgRow[]; nextCursor: string | null }> {
    const before = cursor === undefined ? null : this.cursors.read(OPERATOR, LIST, cursor);
    const rows = await this.store.page(before, limit + 1);
    return this.cursors.page(OPERATOR, LIST, rows, limit, ({ id }) => id);
  }

  /** Returns an organization. Throws 404 if there is no such organization. */
  async find(id: Id): Promise<OrgRow> {
    const row = await this.store.find(id);
    if (row === null) throw noSuch('organization');
    return row;
  }

  /**
   * Creates an organization with its environments, first admin and admin keys. Throws 409 if another organization uses
   * the slug or used it before. Also throws 409 for a second organization if OIDC_DOMAINS is not set.
   */
  async create({ slug, name, admin }: NewOrganization): Promise<MadeOrganization> {
    const taken = (): Error => conflict(`The slug "${slug}" is taken. Choose another one.`, { slug });
    return this.database.transaction(async () => {
      const id = this.ids.next();
      if (!(await this.organizations.reserve(id, slug))) throw taken();
      await this.founder.found({ id, slug, name }).catch((error: unknown) => {
        throw sqlState(error) === UNIQUE_VIOLATION ? taken() : error;
      });
      if (lacksDomains(this.config.oidc) && (await this.organizations.hasSeveral())) throw conflict(DOMAINS_REQUIRED);
      const member = await this.members.insert(id, this.ids.next(), { ...admin, role: 'admin' });
      const keys = { live: await this.firstKey(id, 'live'), test: await this.firstKey(id, 'test') };
      return { organization: await this.find(id), admin: member, keys };
    });
  }

  /**
   * Removes an organization. Its keys, members and sessions stop working within five seconds on every node, and its
   * receive URLs return 404. The configuration is erased in the background. Accepted events are erased when their
   * retention ends. Throws 404 if the organization is already removed, and 409 for the last organization.
   */
  async remove(id: Id): Promise<void> {
    await this.database.transaction(async () => {
      const live = await this.store.lockLive();
      if (!live.includes(id)) throw noSuch('organization');
      if (live.length === 1)
        throw conflict('This is the last organization of the installation. Create another one first.');
      const { keyHashes, environmentIds } = await this.store.remove(
        id,
        `removed-${showId('org', id).slice(4).toLowerCase()}`,
      );
      await this.notifications.announceAll('key', keyHashes);
      await this.notifications.announceAll('environment', environmentIds.map(String));
      await this.notifications.announce('organization', id);
    });
  }

  private async firstKey(organizationId: Id, mode: 'live' | 'test'): Promise<string> {
    const environmentId = await this.keys.environmentOf(organizationId, mode);
    return (
      await this.issuer.issue({
        environmentId,
        mode,
        name: 'First key',
        scope: 'admin',
        source: 'bootstrap',
        expiresAt: null,
      })
    ).text;
  }
}
