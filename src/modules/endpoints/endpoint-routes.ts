import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import { conflict, invalid, noSuch } from '#kernel/errors.js';
import { type Id, Ids, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { RouteEntity } from './endpoints.entities.js';
import { EndpointsStore } from './endpoints.store.js';
import { OutsideChecks } from './outside-checks.js';
import { type AskedRoute, draftRoute, repeatedDestination, type RouteDraft } from './route-drafts.js';

/** Changes to a route. Omitted fields keep their value. `filter: null` selects all events. */
export interface RouteChanges {
  destination?: string;
  filter?: Record<string, unknown> | null;
}

const ROUTES_MAX = 100;

/** Changes routes. Each change also creates a new version of the endpoint. */
@Injectable()
export class EndpointRoutes {
  constructor(
    private readonly store: EndpointsStore,
    private readonly checks: OutsideChecks,
    private readonly database: Database,
    private readonly ids: Ids,
  ) {}

  /** Returns routes in the order of evaluation. Throws 404 if the endpoint does not exist. */
  async list(tenant: Tenant, endpointId: Id): Promise<RouteEntity[]> {
    const { environmentId } = tenant;
    if ((await this.store.find(environmentId, endpointId)) === null) throw noSuch('endpoint');
    return this.store.routes(environmentId, [endpointId]);
  }

  /**
   * Adds a route at the end and returns it. Throws 404 for an unknown endpoint, 422 for an invalid route, and 409 if
   * there are too many routes.
   */
  async add(tenant: Tenant, endpointId: Id, asked: Pick<AskedRoute, 'destination' | 'filter'>): Promise<RouteEntity> {
    await this.list(tenant, endpointId);
    const { destinationId, filter } = await this.checked(tenant, asked);
    const added = {
      environmentId: tenant.environmentId,
      id: this.ids.next(),
      endpointId,
      destinationId,
      filter,
      position: ROUTES_MAX,
    };
    await this.write(tenant, endpointId, (routes) => {
      if (routes.length >= ROUTES_MAX)
        throw conflict(`An endpoint has at most ${ROUTES_MAX} routes. Delete one first.`, { limit: ROUTES_MAX });
      return [...routes, added];
    });
    return added;
  }

  /** Changes and returns a route. Throws 404 if it does not exist, and 422 if the changed route is invalid. */
  async change(
    tenant: Tenant,
    endpointId: Id,
    routeId: Id,
    { destination, filter }: RouteChanges,
  ): Promise<RouteEntity> {
    const before = routeIn(await this.list(tenant, endpointId), routeId);
    const asked = { destination: destination ?? showId('dst', before.destinationId), filter: filter ?? null };
    const draft = await this.checked(tenant, asked);
    const changed = (route: RouteEntity): RouteEntity => ({
      ...route,
      ...(destination !== undefined && { destinationId: draft.destinationId }),
      ...(filter !== undefined && { filter: draft.filter }),
    });
    const routes = await this.write(tenant, endpointId, (all) =>
      all.map((route) => (route === routeIn(all, routeId) ? changed(route) : route)),
    );
    return routeIn(routes, routeId);
  }

  /** Removes a route. Throws 404 if it does not exist. */
  async remove(tenant: Tenant, endpointId: Id, routeId: Id): Promise<void> {
    await this.write(tenant, endpointId, (routes) => {
      const removed = routeIn(routes, routeId);
      return routes.filter((route) => route !== removed);
    });
  }

  private async checked(tenant: Tenant, asked: Pick<AskedRoute, 'destination' | 'filter'>): Promise<RouteDraft> {
    const { draft, faults } = draftRoute([], { ...asked, id: null }, '');
    if (draft === null) throw invalid(faults);
    await this.checks.pass(tenant.environmentId, { drafts: [draft] });
    return draft;
  }

  /**
   * Changes routes under a lock on the endpoint's row. Throws 404 for an unknown endpoint or route, and 422 if two
   * routes have the same destination.
   */
  private write(
    tenant: Tenant,
    endpointId: Id,
    change: (routes: RouteEntity[]) => RouteEntity[],
  ): Promise<RouteEntity[]> {
    const { environmentId } = tenant;
    return this.database.transaction(async () => {
      const endpoint = await this.store.findForUpdate(environmentId, endpointId);
      if (endpoint === null) throw noSuch('endpoint');
      const before = await this.store.routes(environmentId, [endpointId]);
      const after = change(before).map((route, position) => ({ ...route, position }));
      if (new Set(after.map(({ destinationId }) => destinationId)).size < after.length)
        throw invalid([repeatedDestination('destination')]);
      if (isDeepStrictEqual(before, after)) return after;
      await this.store.replaceRoutes(environmentId, endpointId, after);
      await this.store.update(endpoint, { version: endpoint.version + 1 });
      return after;
    });
  }
}

function routeIn(routes: readonly RouteEntity[], id: Id): RouteEntity {
  const route = routes.find((each) => each.id === id);
  if (route === undefined) throw noSuch('route');
  return route;
}
