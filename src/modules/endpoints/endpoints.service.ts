import { Injectable } from '@nestjs/common';
import type { ResponseSettings } from '#engine/inbound/response.js';
import { COUNTED_MAX, type CursorQuery, Cursors } from '#kernel/cursors.js';
import { badRequest, noSuch } from '#kernel/errors.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { type DestinationUser } from '#modules/destinations/destination-users.contract.js';
import { DestinationUsers } from '#modules/destinations/destination-users.js';
import { EventSources } from '#modules/events/event-sources.js';
import { EndpointVault } from './endpoint-vault.js';
import type { EndpointEntity, RouteEntity } from './endpoints.entities.js';
import { EndpointsStore, type ListedEndpoint } from './endpoints.store.js';
import { type IngestDomain, IngestDomains } from './ingest-domains.js';
import { Presets } from './presets.js';

export interface EndpointQuery {
  status?: EndpointEntity['status'];
  preset?: string;
  search?: string;
  count?: boolean;
  cursor?: string;
  limit?: number;
}

export interface RoutedEndpoint {
  row: EndpointEntity;
  routes: readonly RouteEntity[];
}

export interface EndpointSurroundings {
  routes: readonly RouteEntity[];
  url: string;
  domain: IngestDomain;
}

export interface EndpointListing extends EndpointSurroundings {
  row: ListedEndpoint;
}

export interface EndpointView extends EndpointSurroundings {
  row: EndpointEntity;
  /** Response settings with their secrets, which the API must not return. */
  response: ResponseSettings | null;
}

export interface EndpointListings {
  listings: EndpointListing[];
  nextCursor: string | null;
  /** Number of endpoints, up to a maximum. `null` if the count was not requested. */
  count: number | null;
}

const LIMIT_DEFAULT = 50;

@Injectable()
export class EndpointsService {
  constructor(
    private readonly store: EndpointsStore,
    private readonly vault: EndpointVault,
    private readonly domains: IngestDomains,
    private readonly cursors: Cursors,
    private readonly presets: Presets,
    sources: EventSources,
    users: DestinationUsers,
  ) {
    users.attach(async (environmentId, destinationId, max) =>
      (await this.store.routesTo(environmentId, destinationId, max)).map(shownUser),
    );
    sources.attach(async (environmentId, path) => {
      const endpointId = await this.store.idAt(environmentId, path);
      return endpointId === null ? null : { endpointId, applicationId: null };
    });
  }

  async list(tenant: Tenant, query: EndpointQuery): Promise<EndpointListings> {
    if (query.preset !== undefined && !this.presets.has(query.preset))
      throw badRequest(`preset: "${query.preset}" is not known.`);
    const { cursor, limit = LIMIT_DEFAULT, count = false, ...filters } = query;
    const list: CursorQuery = { list: 'endpoints', filters };
    const beforeId = cursor === undefined ? undefined : this.cursors.read(tenant, list, cursor);
    const [rows, counted] = await Promise.all([
      this.store.page(tenant.environmentId, { ...filters, beforeId }, limit + 1),
      count ? this.store.countListed(tenant.environmentId, filters, COUNTED_MAX) : null,
    ]);
    const { rows: page, nextCursor } = this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
    const routes = await this.store.routes(
      tenant.environmentId,
      page.map(({ id }) => id),
    );
    const domains = await this.domains.findMany(
      tenant.environmentId,
      page.map(({ domainId }) => domainId),
    );
    return {
      listings: page.map((row) => ({
        row,
        ...this.surroundings(
          row,
          domains,
          routes.filter(({ endpointId }) => endpointId === row.id),
        ),
      })),
      nextCursor,
      count: counted,
    };
  }

  /** Returns an endpoint. Throws 404 if it does not exist. */
  async find(tenant: Tenant, id: Id): Promise<EndpointView> {
    const row = await this.store.find(tenant.environmentId, id);
    if (row === null) throw noSuch('endpoint');
    return this.view({ row, routes: await this.store.routes(tenant.environmentId, [id]) });
  }

  async view({ row, routes }: RoutedEndpoint): Promise<EndpointView> {
    const domains = await this.domains.findMany(row.environmentId, [row.domainId]);
    return { row, response: this.vault.openResponse(row), ...this.surroundings(row, domains, routes) };
  }

  private surroundings(
    { path, domainId }: ListedEndpoint,
    domains: ReadonlyMap<Id, IngestDomain>,
    routes: readonly RouteEntity[],
  ): EndpointSurroundings {
    const domain = (domainId === null ? undefined : domains.get(domainId)) ?? this.domains.platform();
    return { routes, url: this.domains.urlOf(domain, path), domain };
  }
}

const shownUser = ({ id, endpointId }: RouteEntity): DestinationUser => ({
  kind: 'route',
  id: showId('rte', id),
  endpoint: showId('ep', endpointId),
});
