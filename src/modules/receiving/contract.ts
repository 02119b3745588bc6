import type { Condition } from '#engine/conditions/condition.js';
import type { Id } from '#kernel/ids.js';

/** Where an endpoint's events go, and which of them. */
export interface LiveRoute {
  id: Id;
  destinationId: Id;
  /** Whether an event passes the route's filter; null without a filter. */
  filter: Condition | null;
}

/** What other contexts may know of an endpoint. */
export interface EndpointSummary {
  environmentId: number;
  id: Id;
  path: string;
  status: 'active' | 'paused' | 'disabled';
  routes: readonly LiveRoute[];
}

/** Running a request that was set aside through its endpoint as it is set now. */
export abstract class Releases {
  /**
   * Makes a new event of it, once for each `run`, whatever dies in between. Null when there is nothing to repeat; an endpoint that takes nothing, or
   * is gone, is told as a sentence.
   */
  abstract release(
    environmentId: number,
    endpointId: Id,
    requestId: Id,
    run: Id,
  ): Promise<Released | { obstacle: string } | null>;
}

/** What came of a release. */
export interface Released {
  /** False when it was set aside once more: its signature still does not hold, or its transform failed again. */
  isReleased: boolean;
  /** Deliveries that it made. */
  deliveries: number;
}

/** Inbound endpoints, from a cache that a change invalidates on every node and that is never older than five seconds. */
export abstract class Endpoints {
  /** The endpoint, whatever its status; null when there is none in this environment. */
  abstract find(environmentId: number, id: Id): Promise<EndpointSummary | null>;
}
