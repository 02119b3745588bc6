import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { type Id, Ids } from '#kernel/ids.js';
import { Vault } from '#kernel/vault.js';
import { OrganizationsStore } from './organizations.store.js';
import { newSigningSecret } from './signing-secret.js';

const DEFAULT_RETENTION_DAYS = 30;

/** Founds the installation's first organization. */
@Injectable()
export class OrganizationFounder {
  constructor(
    private readonly store: OrganizationsStore,
    private readonly vault: Vault,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /** The first organization, made with its two environments when there is none. Must run in a transaction, which locks others out. */
  async firstOrganization(): Promise<{ organizationId: Id; isNew: boolean }> {
    await this.store.lockFirstStart();
    const first = await this.store.first();
    if (first !== null) return { organizationId: first.id, isNew: false };
    const id = this.ids.next();
    await this.store.insert({ id, slug: 'default', name: 'Default', createdAt: this.clock.now() });
    for (const mode of ['live', 'test'] as const) await this.addEnvironment(id, mode);
    return { organizationId: id, isNew: true };
  }

  private async addEnvironment(organizationId: Id, mode: 'live' | 'test'): Promise<void> {
    const id = await this.store.nextEnvironmentId();
    await this.store.insertEnvironment({
      id, organizationId, mode, retentionDays: DEFAULT_RETENTION_DAYS, publicEventCatalog: false, systemDestinationId: null, ...newSigningSecret(this.vault, id),
    });
  }
}
