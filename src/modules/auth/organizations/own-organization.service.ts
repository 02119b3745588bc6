import { Injectable } from '@nestjs/common';
import { frameOriginFault } from '#engine/web-origin.js';
import { Database, sqlState } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { ApiError, conflict, invalid } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { EnvironmentEntity, OrganizationEntity } from '../auth.entities.js';
import { AttachedRetrySchedules } from '../environments/retry-schedules.js';
import { AttachedSystemDestinations } from '../environments/system-destinations.js';
import { OrganizationsStore } from './own-organization.store.js';

const DAY_SECONDS = 86_400;
const UNIQUE_VIOLATION = '23505';

export interface OrganizationView {
  organization: OrganizationEntity;
  environment: EnvironmentEntity;
}

/** Changes to the organization. Omitted fields keep their value. */
export interface OrganizationChanges {
  name?: string;
  slug?: string;
  retentionDays?: number;
  publicEventCatalog?: boolean;
  /** Id of a destination in the format of the API, or `null` for none. */
  systemDestination?: string | null;
  portalOrigins?: readonly string[];
}

@Injectable()
export class OrganizationService {
  constructor(
    private readonly store: OrganizationsStore,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly destinations: AttachedSystemDestinations,
    private readonly schedules: AttachedRetrySchedules,
  ) {}

  /** Returns the organization. A system destination that was deleted in the meantime is returned as `null`. */
  async get(tenant: Tenant): Promise<OrganizationView> {
    const environment = await this.store.findEnvironment(tenant.environmentId);
    if (environment === null) throw new Error(`Environment ${tenant.environmentId} of a key does not exist.`);
    const systemDestinationId = await this.destinations.known(environment.id, environment.systemDestinationId);
    return {
      organization: await this.store.find(tenant.organizationId),
      environment: { ...environment, systemDestinationId },
    };
  }

  /**
   * Changes the organization. Retention and the catalog setting apply only to the calling key's environment. A new
   * retention period applies to data accepted from now on. Throws 403 if a test key changes the name or slug, 409 for a
   * slug that another organization uses or used, and 422 for invalid values.
   */
  async update(
    tenant: Tenant,
    { name, slug, systemDestination, portalOrigins, ...given }: OrganizationChanges,
  ): Promise<OrganizationView> {
    await this.refuseShorterThanRetries(tenant, given.retentionDays);
    refuseOrigins(tenant, portalOrigins);
    const settings = {
      ...given,
      portalOrigins: portalOrigins && [...portalOrigins],
      systemDestinationId: await this.named(tenant, systemDestination),
    };
    return this.database.transaction(async () => {
      await this.rename(tenant, { name, slug });
      const isSet = Object.values(settings).some((value) => value !== undefined);
      if (isSet) await this.store.updateEnvironment(tenant.environmentId, settings);
      // Evicts only this environment from the caches. The organization's other environment uses the old slug until its
      // cache entry expires.
      if (isSet || slug !== undefined) await this.announce(tenant);
      return this.get(tenant);
    });
  }

  private async named(
    { environmentId }: Tenant,
    destination: string | null | undefined,
  ): Promise<Id | null | undefined> {
    if (destination == null) return destination;
    const id = await this.destinations.known(environmentId, parseId('dst', destination));
    if (id === null) throw invalid([{ path: 'system_destination', message: 'There is no such destination.' }]);
    return id;
  }

  /** Throws 422 for a retention shorter than a retry schedule: events would be deleted before the last attempt. */
  private async refuseShorterThanRetries({ environmentId }: Tenant, retentionDays: number | undefined): Promise<void> {
    if (retentionDays === undefined) return;
    const seconds = await this.schedules.longestSeconds(environmentId);
    if (retentionDays * DAY_SECONDS >= seconds) return;
    const hours = Math.ceil(seconds / 3600);
    const message = `must be at least ${Math.ceil(seconds / DAY_SECONDS)}: deliveries of this environment are retried for up to ${hours} hours, and an event must not expire before its last attempt. Shorten the retry schedules first`;
    throw invalid([{ path: 'retention_days', message }]);
  }

  private async rename(tenant: Tenant, naming: Pick<OrganizationChanges, 'name' | 'slug'>): Promise<void> {
    if (naming.name === undefined && naming.slug === undefined) return;
    if (tenant.mode !== 'live') {
      const what = 'The name and the slug also belong to the live environment: they need a live admin key.';
      throw new ApiError('insufficient_scope', what, { required: 'admin', environment: 'live' });
    }
    try {
      await this.reserve(tenant.organizationId, naming.slug);
      await this.store.update(tenant.organizationId, naming);
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
      throw conflict(`The slug "${naming.slug}" is taken. Choose another one.`, { slug: naming.slug });
    }
  }

  /** Reserves the current slug. URLs with this slug may be in use, and must not reach another organization. */
  private async reserve(id: Id, slug: string | undefined): Promise<void> {
    if (slug === undefined) return;
    if (await this.store.reserve(id, slug)) return;
    throw conflict(`The slug "${slug}" is taken. Choose another one.`, { slug });
  }

  private announce(tenant: Tenant): Promise<void> {
    return this.notifications.announce('environment', String(tenant.environmentId));
  }
}

function refuseOrigins({ mode }: Tenant, origins: readonly string[] = []): void {
  const faults = origins.flatMap((origin, i) => {
    const message = frameOriginFault(origin, mode);
    return message === null ? [] : [{ path: `portal_origins.${i}`, message }];
  });
  if (faults.length > 0) throw invalid(faults);
}
