import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Vault } from '#kernel/crypto/vault.js';
import { type Id, Ids } from '#kernel/ids.js';
import { newSigningSecret } from '../environments/signing-secret.js';
import { OrganizationsStore } from './own-organization.store.js';

const DEFAULT_RETENTION_DAYS = 30;

@Injectable()
export class OrganizationFounder {
  constructor(
    private readonly store: OrganizationsStore,
    private readonly vault: Vault,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the first organization. Creates it with its two environments if there is none. Must run in a transaction,
   * because the lock against concurrent calls lasts until the transaction ends.
   */
  async firstOrganization(): Promise<{ organizationId: Id; isNew: boolean }> {
    await this.store.lockFirstStart();
    const first = await this.store.first();
    if (first !== null) return { organizationId: first.id, isNew: false };
    const id = this.ids.next();
    await this.found({ id, slug: 'default', name: 'Default' });
    return { organizationId: id, isNew: true };
  }

  /** Creates an organization with its two environments, in the caller's transaction. */
  async found({ id, slug, name }: { id: Id; slug: string; name: string }): Promise<void> {
    await this.store.insert({ id, slug, name, createdAt: this.clock.now(), removedAt: null, erasedAt: null });
    for (const mode of ['live', 'test'] as const) await this.addEnvironment(id, mode);
  }

  private async addEnvironment(organizationId: Id, mode: 'live' | 'test'): Promise<void> {
    const id = await this.store.nextEnvironmentId();
    await this.store.insertEnvironment({
      id,
      organizationId,
      mode,
      retentionDays: DEFAULT_RETENTION_DAYS,
      publicEventCatalog: false,
      systemDestinationId: null,
      portalOrigins: [],
      ...newSigningSecret(this.vault, id),
    });
  }
}
