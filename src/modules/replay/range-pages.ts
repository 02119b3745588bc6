import { Injectable } from '@nestjs/common';
import { LiveEndpoints } from '#modules/receiving/live-endpoints.js';
import { PAGE_EVENTS, type ReplayJob } from './replay-job.js';
import { type NextPage, type PageSource, ReplayPages, routesTo } from './replay-pages.js';

/** Pages of the events that an endpoint received, with the current destinations of the endpoint's routes. */
@Injectable()
export class RangePages implements PageSource {
  constructor(
    private readonly endpoints: LiveEndpoints,
    private readonly pages: ReplayPages,
  ) {}

  async next(job: ReplayJob): Promise<NextPage> {
    const endpoint = await this.endpoints.find(job.environmentId, job.endpointId);
    if (endpoint?.status !== 'active')
      return { obstacle: endpoint ? `The endpoint is ${endpoint.status}.` : 'The endpoint was deleted.' };
    const routes = routesTo(endpoint, job.destinations);
    return {
      page: await this.pages.read(job, routes, PAGE_EVENTS),
      destinations: routes.map(({ destinationId }) => destinationId),
    };
  }
}
