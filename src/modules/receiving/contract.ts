import type { Condition } from '#engine/conditions/condition.js';
import type { Id } from '#kernel/ids.js';

export interface LiveRoute {
  id: Id;
  destinationId: Id;
  /** Condition that an event must meet. `null` selects all events. */
  filter: Condition | null;
}

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
   * Creates a new event, exactly once per `run` even after a crash. `null` if the request has no content to process, a
   * sentence if the endpoint is inactive or gone.
   */
  abstract release(
    environmentId: number,
    endpointId: Id,
    requestId: Id,
    run: Id,
  ): Promise<Released | { obstacle: string } | null>;
}

export interface Released {
  /** False if the request was set aside again: its signature is still invalid, or its transform failed again. */
  isReleased: boolean;
  deliveries: number;
}

/** Inbound endpoints, from a cache that changes invalidate on every node and that is at most five seconds old. */
export abstract class Endpoints {
  /** In any status. */
  abstract find(environmentId: number, id: Id): Promise<EndpointSummary | null>;
}
