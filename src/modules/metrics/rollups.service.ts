import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, parseId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Applications } from '#modules/applications/applications.js';
import { Targets } from '#modules/destinations/targets.js';
import { LiveEndpoints } from '#modules/receiving/live-endpoints.js';
import { type Rollup, RollupsStore, WHOLE } from './rollups.store.js';
import { type MetricsWindow, type Range, startsOf } from './windows.js';

const NOTHING: Omit<Rollup, 'startMs'> = {
  received: 0,
  delivered: 0,
  failed: 0,
  retried: 0,
  dlq: 0,
  attempts: 0,
  histogram: [],
};

/** Reads the rollups that the background job has written. A request neither folds increments nor counts events. */
@Injectable()
export class RollupsService {
  constructor(
    private readonly store: RollupsStore,
    private readonly endpoints: LiveEndpoints,
    private readonly targets: Targets,
    private readonly applications: Applications,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the rollups of the resource with id `key` (or of the environment if null), oldest first. Throws 404 for an
   * unknown resource, and 400 for an invalid range.
   */
  async list(tenant: Tenant, key: string | null, window: MetricsWindow, range: Range): Promise<Rollup[]> {
    const starts = startsOf(window, range, this.clock.nowMs());
    const keyId = key === null ? WHOLE : await this.owned(tenant, key);
    const [firstMs, lastMs] = [starts[0], starts.at(-1)];
    if (firstMs === undefined || lastMs === undefined) return [];
    const rollups = await this.store.find(tenant, keyId, window, { firstMs, lastMs });
    const byStart = new Map(rollups.map((rollup) => [rollup.startMs, rollup]));
    return starts.map((startMs) => byStart.get(startMs) ?? { startMs, ...NOTHING });
  }

  /** Returns the id of an inbound or application endpoint, an application or a destination, or throws 404. */
  private async owned({ environmentId }: Tenant, key: string): Promise<Id> {
    if (parseId('app', key) !== null) return this.applications.find(environmentId, key);
    const endpointId = parseId('ep', key);
    if (endpointId !== null && (await this.endpoints.find(environmentId, endpointId)) !== null) return endpointId;
    if (endpointId !== null && (await this.applications.findEndpoint(environmentId, endpointId)) !== null)
      return endpointId;
    const destinationId = parseId('dst', key);
    if (destinationId !== null && (await this.isShown(environmentId, destinationId))) return destinationId;
    throw noSuch('endpoint, destination or application');
  }

  /**
   * Returns whether the API shows the destination under its `dst_` id. This is true of registered destinations, and of
   * those that Posthorn created, such as the one for emails.
   */
  private async isShown(environmentId: number, id: Id): Promise<boolean> {
    const target = await this.targets.ofDestination(environmentId, id);
    return target !== null && (target.ownerId === null || target.ownerId === id);
  }
}
