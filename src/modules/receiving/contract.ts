import type { Condition } from '#engine/conditions/condition.js';
import type { Id } from '#kernel/ids.js';

/** A route of an endpoint: a destination and a filter for the events. */
export interface LiveRoute {
  id: Id;
  destinationId: Id;
  /** Condition that an event must meet. `null` selects all events. */
  filter: Condition | null;
}

/** The data of an endpoint that other modules need. */
export interface EndpointSummary {
  environmentId: number;
  id: Id;
  path: string;
  status: 'active' | 'paused' | 'disabled';
  routes: readonly LiveRoute[];
}

/** Releases set-aside requests: processes them with the current settings of their endpoint. */
export abstract class Releases {
  /**
   * Creates a new event from the request, exactly once per `run` even after a crash. Returns `null` if the request has
   * no content to process. Returns a sentence if the endpoint is inactive or gone.
   */
  abstract release(
    environmentId: number,
    endpointId: Id,
    requestId: Id,
    run: Id,
  ): Promise<Released | { obstacle: string } | null>;
}

/** Result of a release. */
export interface Released {
  /** False if the request was set aside again: its signature is still invalid, or its transform failed again. */
  isReleased: boolean;
  /** Number of deliveries that were created. */
  deliveries: number;
}

/** Inbound endpoints, from a cache that changes invalidate on every node and that is at most five seconds old. */
export abstract class Endpoints {
  /** Returns the endpoint in any status. Returns `null` if there is none in this environment. */
  abstract find(environmentId: number, id: Id): Promise<EndpointSummary | null>;
}
