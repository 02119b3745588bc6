import { Injectable } from '@nestjs/common';
import { patternsOf } from '#engine/subscription.js';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import type { Tenant } from '#kernel/tenant.js';
import { EventTypes } from '#modules/event-types/event-types.js';
import { ApplicationEndpointsService, type ApplicationEndpointView } from './application-endpoints.service.js';
import { ApplicationEndpointsStore } from './application-endpoints.store.js';
import type { ApplicationEntity } from './applications.entities.js';
import { ApplicationsStore } from './applications.store.js';

export interface SubscriberView {
  endpoint: ApplicationEndpointView;
  application: ApplicationEntity;
}

const LIMIT_DEFAULT = 50;

/** Reads the subscribers of an event type, across all applications of an environment. */
@Injectable()
export class Subscribers {
  constructor(
    private readonly types: EventTypes,
    private readonly store: ApplicationEndpointsStore,
    private readonly applications: ApplicationsStore,
    private readonly endpoints: ApplicationEndpointsService,
    private readonly cursors: Cursors,
  ) {}

  /**
   * Lists subscribed endpoints, newest first. Each page reads a limited number of endpoints, so a short page is not
   * always the last. Throws 404 for an unknown event type, and 400 for an invalid cursor.
   */
  async list(
    tenant: Tenant,
    eventType: string,
    { cursor, limit = LIMIT_DEFAULT }: PageQuery,
  ): Promise<{ views: SubscriberView[]; nextCursor: string | null }> {
    const { environmentId } = tenant;
    await this.types.require(environmentId, eventType);
    const list: CursorQuery = { list: 'subscribers', filters: { eventType } };
    const before = cursor === undefined ? null : this.cursors.read(tenant, list, cursor);
    const { ids, floor } = await this.store.subscribers(environmentId, patternsOf(eventType), before);
    const page = ids.slice(0, limit);
    const last = ids.length > limit ? page.at(-1) : floor;
    const endpoints = await this.endpoints.these(environmentId, page);
    const owners = await this.applications.these(environmentId, [
      ...new Set(endpoints.map(({ row }) => row.applicationId)),
    ]);
    const applications = new Map(owners.map((each) => [each.id, each]));
    const views = endpoints.flatMap((endpoint) => {
      const application = applications.get(endpoint.row.applicationId);
      // `application` is undefined if it was deleted in the meantime.
      return application === undefined ? [] : [{ endpoint, application }];
    });
    return { views, nextCursor: last ? this.cursors.issue(tenant, list, last) : null };
  }
}
