import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import type { Tenant } from '#kernel/tenant.js';
import { Applications, type EndpointCondition, EndpointConditions } from '#modules/applications/contract.js';
import { Waiting, type WaitingDeliveries } from '#modules/events/waiting.contract.js';
import { type Counts, RollupsStore } from './rollups.store.js';
import { type Range, spanOf } from './windows.js';

/** What happened to an endpoint in a span of time, and how it is now. */
export interface EndpointStats {
  sinceMs: number;
  untilMs: number;
  counts: Counts;
  waiting: WaitingDeliveries;
  condition: EndpointCondition;
}

/** Adds up the rollups of an application's endpoint, beside what waits for it. */
@Injectable()
export class EndpointStatistics {
  constructor(
    private readonly store: RollupsStore,
    private readonly applications: Applications,
    private readonly conditions: EndpointConditions,
    private readonly waiting: Waiting,
    private readonly clock: Clock,
  ) {}

  /** Throws 404, and 400 for the range. */
  async read(tenant: Tenant, application: string, endpoint: string, range: Range): Promise<EndpointStats> {
    const { environmentId } = tenant;
    const { window, firstMs, lastMs, endMs } = spanOf(range, this.clock.nowMs());
    const { id, destinationId } = await this.applications.endpoint(environmentId, application, endpoint);
    const [counts, waiting, condition] = await Promise.all([
      this.store.sum(tenant, id, window, { firstMs, lastMs }),
      // What goes to a destination of its own came to that by itself.
      this.waiting.count(environmentId, destinationId, destinationId === id ? null : id),
      this.conditions.find(environmentId, id),
    ]);
    return { sinceMs: firstMs, untilMs: endMs, counts, waiting, condition };
  }
}
