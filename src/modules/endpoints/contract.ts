import type { RequestView } from '#engine/conditions/request-view.js';
import type { Id } from '#kernel/ids.js';

/** Where an endpoint's events go, and which of them. */
export interface LiveRoute {
  id: Id;
  destinationId: Id;
  /** Whether an event passes the route's filter; null without a filter. */
  filter: { matches(view: RequestView): boolean } | null;
}

/** What other contexts may know of an endpoint. */
export interface EndpointSummary {
  environmentId: number;
  id: Id;
  path: string;
  status: 'active' | 'paused' | 'disabled';
  routes: readonly LiveRoute[];
}

/** Inbound endpoints, from a cache that a change invalidates on every node and that is never older than five seconds. */
export abstract class Endpoints {
  /** The endpoint, whatever its status; null when there is none in this environment. */
  abstract find(environmentId: number, id: Id): Promise<EndpointSummary | null>;
}
