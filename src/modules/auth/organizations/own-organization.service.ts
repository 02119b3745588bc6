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
  /** Of the environment. */
  portalOrigins?: readonly string[];
}

/** The caller's organization. */
@Injectable()
export class OrganizationService {
  constructor(
    private readonly store: OrganizationsStore,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly destinations: AttachedSystemDestinations,
    private readonly schedules: AttachedRetrySchedules,
  ) {}

  /** A system destination that was deleted since it was named is shown as none. */
  async get(tenant: Tenant): Promise<OrganizationView> {
    const environment = await this.store.findEnvironment(tenant.environmentId);
    if (environment === null) throw new Error(`Environment ${tenant.environmentId} of a key does not exist.`);
    const systemDestinationId = await this.destinations.known(environment.id, environment.systemDestinationId);
    return {
      organization: await this.store.find(tenant.organizationId),
      environment: { ...environment, systemDestinationId },
    };
  }

  /** Retention and catalogue are the environment's; the retention holds for what is accepted from now on. Throws 403 for a name or a slug by a test key, 409 for a slug that is taken or was another one's, and 422. */
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
      // The organization's other environment learns of a new slug when its entry in the caches is too old.
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

  /** What expires before its last attempt would be lost to a receiver that is promised to have the whole schedule. */
  private async refuseShorterThanRetries({ environmentId }: Tenant, retentionDays: number | undefined): Promise<void> {
    if (retentionDays === undefined) return;
    const seconds = await this.schedules.longestSeconds(environmentId);
    if (retentionDays * DAY_SECONDS >= seconds) return;
    const hours = Math.ceil(seconds / 3600);
    const message = `must be at least ${Math.ceil(seconds / DAY_SECONDS)}: deliveries of this environment are tried for up to ${hours} hours, and an event must not expire before its last attempt. Shorten the retry schedules first`;
    throw invalid([{ path: 'retention_days', message }]);
  }

  private async rename(tenant: Tenant, naming: Pick<OrganizationChanges, 'name' | 'slug'>): Promise<void> {
    if (naming.name === undefined && naming.slug === undefined) return;
    if (tenant.mode !== 'live') {
      const what = 'The name and the slug are those of the live environment too: they need a live admin key.';
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

  /** A slug stands in URLs that were given out: nobody else gets one that was given up, or what is sent to it. */
  private async reserve(id: Id, slug: string | undefined): Promise<void> {
    if (slug === undefined) return;
    if (await this.store.isReservedFor(id, slug)) return;
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
