import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import type { Tenant } from '#kernel/tenant.js';
import { Applications } from '#modules/applications/applications.js';
import { type EndpointCondition } from '#modules/applications/contract.js';
import { EndpointConditions } from '#modules/applications/endpoint-conditions.js';
import { type WaitingDeliveries } from '#modules/events/waiting.contract.js';
import { WaitingStore } from '#modules/events/waiting.store.js';
import { type Counts, RollupsStore } from './rollups.store.js';
import { type Range, spanOf } from './windows.js';

export interface EndpointStats {
  sinceMs: number;
  untilMs: number;
  counts: Counts;
  waiting: WaitingDeliveries;
  condition: EndpointCondition;
}

@Injectable()
export class EndpointStatistics {
  constructor(
    private readonly store: RollupsStore,
    private readonly applications: Applications,
    private readonly conditions: EndpointConditions,
    private readonly waiting: WaitingStore,
    private readonly clock: Clock,
  ) {}

  /** Returns the statistics of an endpoint. Throws 404 for an unknown endpoint, or 400 for an invalid range. */
  async read(tenant: Tenant, application: string, endpoint: string, range: Range): Promise<EndpointStats> {
    const { environmentId } = tenant;
    const { window, firstMs, lastMs, endMs } = spanOf(range, this.clock.nowMs());
    const { id, destinationId } = await this.applications.endpoint(environmentId, application, endpoint);
    const [counts, waiting, condition] = await Promise.all([
      this.store.sum(tenant, id, window, { firstMs, lastMs }),
      // If the endpoint owns the destination, all deliveries to the destination are the endpoint's, so no filter is
      // needed.
      this.waiting.count(environmentId, destinationId, destinationId === id ? null : id),
      this.conditions.find(environmentId, id),
    ]);
    return { sinceMs: firstMs, untilMs: endMs, counts, waiting, condition };
  }
}
