import { Injectable } from '@nestjs/common';
import { Cancellations } from '#modules/ledger/cancellations.js';
import { hasUrl } from './application-endpoints.service.js';
import type { ApplicationEndpointEntity } from './applications.entities.js';

/**
 * Ends pending deliveries of endpoints that no longer accept deliveries. A registered destination may serve other
 * endpoints, so only the deliveries of the given endpoints are ended. An endpoint with its own URL is skipped, because
 * the change of the destination for this URL already ended its deliveries.
 */
@Injectable()
export class WaitingDeliveries {
  constructor(private readonly cancellations: Cancellations) {}

  /** Call this after the change has committed, when no new deliveries can be added. Idempotent. */
  async end(endpoints: readonly ApplicationEndpointEntity[]): Promise<void> {
    for (const endpoint of endpoints) {
      if (hasUrl(endpoint)) continue;
      const { environmentId, destinationId: targetId, id: endpointId } = endpoint;
      await this.cancellations.ofTarget({ environmentId, targetId, endpointId, eventType: null, beforeId: null });
    }
  }
}
