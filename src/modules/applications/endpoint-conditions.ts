import { Injectable } from '@nestjs/common';
import type { Id } from '#kernel/ids.js';
import { ApplicationEndpointsService, statusOf } from './application-endpoints.service.js';
import { type EndpointCondition } from './contract.js';

@Injectable()
export class EndpointConditions {
  constructor(private readonly endpoints: ApplicationEndpointsService) {}

  /** Returns the condition of an endpoint. Throws 404 if the endpoint was deleted. */
  async find(environmentId: number, endpointId: Id): Promise<EndpointCondition> {
    const view = await this.endpoints.find(environmentId, endpointId);
    return { ...statusOf(view), circuit: view.owned && view.owned.circuit };
  }
}
