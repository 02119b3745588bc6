import { Injectable } from '@nestjs/common';
import { Cancellations } from '#modules/ledger/cancellations.js';
import { hasUrl } from './application-endpoints.service.js';
import type { ApplicationEndpointEntity } from './applications.entities.js';

/**
 * Ends waiting deliveries of endpoints that no longer accept any. The change of an owned destination already ends its
 * deliveries. A registered destination stays in use for others, so only this endpoint's deliveries are selected.
 */
@Injectable()
export class WaitingDeliveries {
  constructor(private readonly cancellations: Cancellations) {}

  /** Call this after the commit, when no new deliveries can be added. Idempotent. */
  async end(endpoints: readonly ApplicationEndpointEntity[]): Promise<void> {
    for (const endpoint of endpoints) {
      if (hasUrl(endpoint)) continue;
      const { environmentId, destinationId: targetId, id: endpointId } = endpoint;
      await this.cancellations.ofTarget({ environmentId, targetId, endpointId, eventType: null, beforeId: null });
    }
  }
}
