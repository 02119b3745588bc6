import { Injectable } from '@nestjs/common';
import { formatSecret } from '#engine/signing.js';
import { Clock } from '#kernel/clock.js';
import { Database, sqlState } from '#kernel/database.js';
import { conflict } from '#kernel/errors.js';
import { Notifications } from '#kernel/notifications.js';
import type { Tenant } from '#kernel/tenant.js';
import { Vault } from '#kernel/vault.js';
import type { EnvironmentEntity, OrganizationEntity } from './auth.entities.js';
import { OrganizationsStore } from './organizations.store.js';
import { currentKey, rotatedSigningSecret } from './signing-secret.js';

const UNIQUE_VIOLATION = '23505';

/** The caller's organization, seen from one of its environments. */
export interface OrganizationView {
  organization: OrganizationEntity;
  environment: EnvironmentEntity;
}

/** What may be changed of it; what is left out stays. */
export interface OrganizationChanges {
  name?: string;
  slug?: string;
  retentionDays?: number;
}

/** The caller's organization and the signing secret of the caller's environment. */
@Injectable()
export class OrganizationService {
  constructor(
    private readonly store: OrganizationsStore,
    private readonly vault: Vault,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  async get(tenant: Tenant): Promise<OrganizationView> {
    return { organization: await this.store.find(tenant.organizationId), environment: await this.environment(tenant) };
  }

  /** The retention is the environment's, and holds for what is accepted from now on. Throws 409 for a slug that is taken. */
  async update(tenant: Tenant, { retentionDays, ...naming }: OrganizationChanges): Promise<OrganizationView> {
    return this.database.transaction(async () => {
      await this.rename(tenant, naming);
      if (retentionDays !== undefined) await this.store.updateEnvironment(tenant.environmentId, { retentionDays });
      // The organization's other environment learns of a new slug when its entry in the caches is too old.
      if (retentionDays !== undefined || naming.slug !== undefined) await this.announce(tenant);
      return this.get(tenant);
    });
  }

  /** The secret that signs deliveries to ad-hoc URLs. */
  async signingSecret(tenant: Tenant): Promise<string> {
    return formatSecret(currentKey(this.vault, await this.environment(tenant)));
  }

  /** A new signing secret; the one before signs too for `graceMs`, and what was before that no longer does. */
  async rotateSigningSecret(tenant: Tenant, graceMs: number): Promise<string> {
    return this.database.transaction(async () => {
      const row = await this.store.findEnvironmentForUpdate(tenant.environmentId);
      const columns = rotatedSigningSecret(this.vault, row, new Date(this.clock.nowMs() + graceMs));
      await this.store.updateEnvironment(row.id, columns);
      await this.announce(tenant);
      return formatSecret(currentKey(this.vault, { ...row, ...columns }));
    });
  }

  private async environment(tenant: Tenant): Promise<EnvironmentEntity> {
    const row = await this.store.findEnvironment(tenant.environmentId);
    if (row === null) throw new Error(`Environment ${tenant.environmentId} of a key does not exist.`);
    return row;
  }

  private async rename(tenant: Tenant, naming: Pick<OrganizationChanges, 'name' | 'slug'>): Promise<void> {
    if (naming.name === undefined && naming.slug === undefined) return;
    try {
      await this.store.update(tenant.organizationId, naming);
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
      throw conflict(`The slug "${naming.slug}" is taken. Choose another one.`, { slug: naming.slug });
    }
  }

  private announce(tenant: Tenant): Promise<void> {
    return this.notifications.announce('environment', String(tenant.environmentId));
  }
}
