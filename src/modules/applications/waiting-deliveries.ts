import { Injectable } from '@nestjs/common';
import { Cancellations } from '#modules/ledger/cancellations.js';
import { hasUrl } from './application-endpoints.service.js';
import type { ApplicationEndpointEntity } from './applications.entities.js';

/**
 * Ends the pending deliveries of endpoints that no longer accept deliveries. Other deliveries to their destination
 * continue, because several endpoints may use one destination of the environment.
 *
 * Skips endpoints with their own URL. Such a URL is stored as a destination that serves only this endpoint, and the
 * change of that destination has already ended the deliveries.
 */
@Injectable()
export class WaitingDeliveries {
  constructor(private readonly cancellations: Cancellations) {}

  /**
   * Ends the deliveries. Idempotent. Call this after the commit of the change that disables or deletes the endpoints:
   * before the commit, deliveries can still be added.
   */
  async end(endpoints: readonly ApplicationEndpointEntity[]): Promise<void> {
    for (const endpoint of endpoints) {
      if (hasUrl(endpoint)) continue;
      const { environmentId, destinationId: targetId, id: endpointId } = endpoint;
      await this.cancellations.ofTarget({ environmentId, targetId, endpointId, eventType: null, beforeId: null });
    }
  }
}
