import { Injectable } from '@nestjs/common';
import { Targets } from '#modules/destinations/contract.js';
import type { Arrival } from '#modules/ledger/accept.contract.js';
import type { RequestView } from '#engine/conditions/request-view.js';
import type { EndpointSummary } from '#modules/endpoints/contract.js';

/** Finds where an event goes: one delivery for each route whose filter it passes. */
@Injectable()
export class Routing {
  constructor(private readonly targets: Targets) {}

  async route(endpoint: EndpointSummary, view: RequestView, payload: string | Buffer): Promise<Arrival[]> {
    const matching = endpoint.routes.filter(({ filter }) => filter === null || filter.matches(view));
    return Promise.all(matching.map(({ destinationId }) => this.arrival(endpoint.environmentId, destinationId, payload)));
  }

  /** A destination that was deleted or disabled gets its delivery too: it fails where everybody can see it, and can be sent again. */
  private async arrival(environmentId: number, targetId: string, payload: string | Buffer): Promise<Arrival> {
    // One that can't be loaded right now keeps no other route from its delivery; the attempt finds out.
    const target = await this.targets.ofDestination(environmentId, targetId).catch(() => null);
    return {
      environmentId,
      targetId,
      payload,
      pulled: target !== null && this.targets.adapter(target.type).pulled,
      ratePerSecond: target?.ratePerSecond ?? null,
      concurrency: target?.concurrency ?? null,
    };
  }
}
