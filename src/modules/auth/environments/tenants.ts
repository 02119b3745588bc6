import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { ApiError } from '#kernel/errors.js';
import { parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { OrganizationsStore } from '../organizations/own-organization.store.js';
import { Environments } from './environments.js';

const ENTRIES_MAX = 10_000;

/**
 * Finds tenants for code that runs outside of requests, for example in a job. A route handler gets its tenant from
 * `@CurrentTenant()`.
 */
@Injectable()
export class Tenants {
  private readonly ids: Cache<number | null>;

  constructor(
    private readonly environments: Environments,
    organizations: OrganizationsStore,
    clock: Clock,
  ) {
    this.ids = new Cache(
      (key) => organizations.environmentIdOf(key.slice(5), key.startsWith('live:') ? 'live' : 'test'),
      { entriesMax: ENTRIES_MAX, nowMs: () => clock.nowMs() },
    );
  }

  /** Returns an organization's environment, or null if there is none. `organization` is `org_…`, as in `GET /v1/org`. */
  async find(organization: string, mode: Tenant['mode']): Promise<Tenant | null> {
    const organizationId = parseId('org', organization);
    if (organizationId === null || (mode !== 'live' && mode !== 'test')) return null;
    const environmentId = await this.ids.get(`${mode}:${organizationId}`);
    return environmentId === null ? null : { environmentId, organizationId, mode };
  }

  /** Returns the tenant of the environment with this `Tenant.environmentId`, or null if there is none. */
  async ofEnvironment(id: number): Promise<Tenant | null> {
    if (!Number.isSafeInteger(id)) return null;
    try {
      const { environmentId, organizationId, mode } = await this.environments.get(id);
      return { environmentId, organizationId, mode };
    } catch (error) {
      if (error instanceof ApiError && error.type === 'not_found') return null;
      throw error;
    }
  }
}
