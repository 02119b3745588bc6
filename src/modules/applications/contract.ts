import type { Circuit } from '#engine/circuit.js';
import type { RequestView } from '#engine/conditions/request-view.js';
import type { Id } from '#kernel/ids.js';

export interface Subscriber {
  id: Id;
  /** Destination of the endpoint's deliveries. Equals the endpoint's id if the endpoint has its own URL. */
  destinationId: Id;
  /** True if the endpoint itself is enabled. Its destination may be disabled nevertheless. */
  isActive: boolean;
  /** False if the endpoint's filter timed out, so it is unknown whether the message matches. */
  isDecided: boolean;
}

export interface MessageTraits {
  eventType: string;
  channels: readonly string[];
  /** Returns the data that filters read. Called only if a subscriber has a filter. */
  view: () => RequestView;
}

export interface ApplicationEndpoint {
  applicationId: Id;
  id: Id;
  destinationId: Id;
}

export interface EndpointCondition {
  status: 'active' | 'disabled';
  disabledReason: string | null;
  /**
   * Null if the endpoint uses a destination of the environment (`dst_…`), because the circuit then belongs to this
   * destination.
   */
  circuit: Pick<Circuit, 'state' | 'openedAt'> | null;
}
