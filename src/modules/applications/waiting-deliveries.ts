import { Injectable } from '@nestjs/common';
import { Cancellations } from '#modules/ledger/cancellation.contract.js';
import { hasUrl } from './application-endpoints.service.js';
import type { ApplicationEndpointEntity } from './applications.entities.js';

/**
 * What waits for endpoints that take no deliveries any more. With a URL of its own an endpoint's destination ends them;
 * one of the registry goes on for others, so that the endpoint's deliveries are picked out of what waits for it.
 */
@Injectable()
export class WaitingDeliveries {
  constructor(private readonly cancellations: Cancellations) {}

  /** To be called after the commit, from which on there are no new ones. Safe to repeat. */
  async end(endpoints: readonly ApplicationEndpointEntity[]): Promise<void> {
    for (const endpoint of endpoints) {
      if (hasUrl(endpoint)) continue;
      const { environmentId, destinationId: targetId, id: endpointId } = endpoint;
      await this.cancellations.ofTarget({ environmentId, targetId, endpointId, eventType: null, beforeId: null });
    }
  }
}
