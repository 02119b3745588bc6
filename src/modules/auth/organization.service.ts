import { Injectable } from '@nestjs/common';
import { Database, sqlState } from '#kernel/database.js';
import { conflict, invalid } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import { Notifications } from '#kernel/notifications.js';
import type { Tenant } from '#kernel/tenant.js';
import type { EnvironmentEntity, OrganizationEntity } from './auth.entities.js';
import { OrganizationsStore } from './organizations.store.js';
import { AttachedSystemDestinations } from './system-destinations.js';

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
  publicEventCatalog?: boolean;
  /** A destination's id in the form of the API, or null for none. */
  systemDestination?: string | null;
}

/** The caller's organization. */
@Injectable()
export class OrganizationService {
  constructor(
    private readonly store: OrganizationsStore,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly destinations: AttachedSystemDestinations,
  ) {}

  /** A system destination that was deleted since it was named is shown as none. */
  async get(tenant: Tenant): Promise<OrganizationView> {
    const environment = await this.store.findEnvironment(tenant.environmentId);
    if (environment === null) throw new Error(`Environment ${tenant.environmentId} of a key does not exist.`);
    const systemDestinationId = await this.destinations.known(environment.id, environment.systemDestinationId);
    return { organization: await this.store.find(tenant.organizationId), environment: { ...environment, systemDestinationId } };
  }

  /** Retention and catalogue are the environment's; the retention holds for what is accepted from now on. Throws 409 for a slug that is taken, and 422. */
  async update(tenant: Tenant, { name, slug, systemDestination, ...given }: OrganizationChanges): Promise<OrganizationView> {
    const settings = { ...given, systemDestinationId: await this.named(tenant, systemDestination) };
    return this.database.transaction(async () => {
      await this.rename(tenant, { name, slug });
      const isSet = Object.values(settings).some((value) => value !== undefined);
      if (isSet) await this.store.updateEnvironment(tenant.environmentId, settings);
      // The organization's other environment learns of a new slug when its entry in the caches is too old.
      if (isSet || slug !== undefined) await this.announce(tenant);
      return this.get(tenant);
    });
  }

  private async named({ environmentId }: Tenant, destination: string | null | undefined): Promise<Id | null | undefined> {
    if (destination == null) return destination;
    const id = await this.destinations.known(environmentId, parseId('dst', destination));
    if (id === null) throw invalid([{ path: 'system_destination', message: 'There is no such destination.' }]);
    return id;
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
