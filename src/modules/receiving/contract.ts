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

/** Processes requests that were set aside without routing, with the current settings of their endpoint. */
export abstract class Releases {
  /**
   * Creates a new event, exactly once per `run` even after a crash. Returns `null` if the request has no content to
   * process, and a sentence if the endpoint is inactive or gone.
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

/** Inbound endpoints, from a cache. Changes invalidate it on every node, and it is at most five seconds old. */
export abstract class Endpoints {
  /** Finds an endpoint in any status. */
  abstract find(environmentId: number, id: Id): Promise<EndpointSummary | null>;
}
