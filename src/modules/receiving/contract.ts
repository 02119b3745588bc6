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

export interface Released {
  /** False if the request was quarantined, parked or dropped again. */
  isReleased: boolean;
  deliveries: number;
}
