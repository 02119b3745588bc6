import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { conflict, noSuch } from '#kernel/errors.js';
import { type Id, Ids } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type SetAsideRange } from '#modules/events/set-aside.contract.js';
import { SetAsideStore } from '#modules/events/set-aside.store.js';
import { type EndpointSummary } from '#modules/receiving/contract.js';
import { LiveEndpoints } from '#modules/receiving/live-endpoints.js';
import { ESTIMATE_MAX, type ReplayJob } from './replay-job.js';
import { type ReplayRange, windowOf } from './replay-range.js';
import { ReplayStart } from './replay-start.js';

export interface ReleaseQuery {
  status: SetAsideRange['status'];
  since?: string;
  until?: string;
}

export interface ReleaseDryRun {
  replayId: Id;
  scanned: number;
  excluded: number;
}

const COUNT_MAX = 2_000_000_000;

/**
 * Starts jobs that process quarantined, parked or dropped requests again, with the current settings of their endpoint.
 */
@Injectable()
export class Release {
  constructor(
    private readonly endpoints: LiveEndpoints,
    private readonly setAside: SetAsideStore,
    private readonly starting: ReplayStart,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * Starts a job. Throws 404 for an unknown endpoint, 409 if the endpoint is inactive or has an unfinished job, and 422
   * for an invalid query.
   */
  async start(tenant: Tenant, endpointId: Id, query: ReleaseQuery): Promise<ReplayJob> {
    const { endpoint, window, range } = await this.checked(tenant, endpointId, query);
    if (endpoint.status !== 'active')
      throw conflict(`The endpoint is ${endpoint.status}. Make it active first.`, { reason: endpoint.status });
    const { scanned } = await this.setAside.count(range, ESTIMATE_MAX);
    return this.starting.start({
      ...window,
      environmentId: tenant.environmentId,
      kind: 'requests',
      endpointId,
      applicationId: null,
      targetId: null,
      includeCancelled: false,
      status: query.status,
      destinations: null,
      destinationsUsed: [],
      totalEstimate: scanned,
    });
  }

  /** Returns the counts of a dry run. Throws 404 for an unknown endpoint, and 422 for an invalid query. */
  async dryRun(tenant: Tenant, endpointId: Id, query: ReleaseQuery): Promise<ReleaseDryRun> {
    const { range } = await this.checked(tenant, endpointId, query);
    return { replayId: this.ids.next(), ...(await this.setAside.count(range, COUNT_MAX)) };
  }

  private async checked(
    { environmentId }: Tenant,
    endpointId: Id,
    query: ReleaseQuery,
  ): Promise<{ endpoint: EndpointSummary; window: ReplayRange; range: SetAsideRange }> {
    const endpoint = await this.endpoints.find(environmentId, endpointId);
    if (endpoint === null) throw noSuch('endpoint');
    const window = windowOf(query, this.clock.nowMs());
    const { fromId, beforeId } = window;
    return { endpoint, window, range: { environmentId, endpointId, status: query.status, fromId, beforeId } };
  }
}
