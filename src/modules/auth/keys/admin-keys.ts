import { Database } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { OrganizationsStore } from '../organizations/own-organization.store.js';
import { type IssuedKey, KeyIssuer } from './key-issuer.js';
import { KeysStore } from './keys.store.js';

/** Creates keys without an existing key, for an operator who has lost the last admin key but can access the machine. */
export class AdminKeys {
  constructor(
    private readonly database: Database,
    private readonly organizations: OrganizationsStore,
    private readonly keys: KeysStore,
    private readonly issuer: KeyIssuer,
  ) {}

  /** Creates an admin key of the first organization. Returns null if there is no organization yet. */
  async create(mode: 'live' | 'test'): Promise<(IssuedKey & { organizationId: Id }) | null> {
    return this.database.transaction(async () => {
      const first = await this.organizations.first();
      if (first === null) return null;
      const environmentId = await this.keys.environmentOf(first.id, mode);
      const key = await this.issuer.issue({
        environmentId,
        mode,
        name: 'Made by create-admin-key',
        scope: 'admin',
        source: 'bootstrap',
        expiresAt: null,
      });
      return { ...key, organizationId: first.id };
    });
  }
}
