import type { Circuit } from '#engine/circuit.js';
import type { RequestView } from '#engine/conditions/request-view.js';
import type { Id } from '#kernel/ids.js';

/** An endpoint that a message goes to. */
export interface Subscriber {
  /** The endpoint's id. */
  id: Id;
  /** Where its deliveries go; the endpoint's own id when it has a URL of its own. */
  destinationId: Id;
  /** Whether the endpoint itself takes deliveries; its destination may not. */
  isActive: boolean;
  /** False where its filter took too long: nobody knows whether the message is for it. */
  isDecided: boolean;
}

/** What endpoints choose messages by. */
export interface MessageTraits {
  eventType: string;
  channels: readonly string[];
  /** Asked for only where a filter looks at the payload. */
  view: () => RequestView;
}

/** An endpoint of an application, as other contexts know it. */
export interface ApplicationEndpoint {
  applicationId: Id;
  id: Id;
  destinationId: Id;
}

/** How an endpoint is right now. */
export interface EndpointCondition {
  status: 'active' | 'disabled';
  disabledReason: string | null;
  /** Null for an endpoint that goes to a destination of the registry, which has the circuit. */
  circuit: Pick<Circuit, 'state' | 'openedAt'> | null;
}

/** Applications, by their `app_` id or by the caller's own uid. */
export abstract class Applications {
  /**
   * The endpoints that subscribe to a message, oldest first. An unknown uid makes the application. Throws 404 for an
   * unknown `app_` id and 422 for what can't be a uid.
   */
  abstract subscribers(
    environmentId: number,
    application: string,
    traits: MessageTraits,
  ): Promise<{ applicationId: Id; subscribers: Subscriber[] }>;

  /** An endpoint by its `ep_` id or its uid. Throws 404 when the application has none. */
  abstract endpoint(environmentId: number, application: string, endpoint: string): Promise<ApplicationEndpoint>;

  /** The id of an application that exists. Throws 404. */
  abstract find(environmentId: number, application: string): Promise<Id>;

  /** The endpoints of an application, oldest first; none when it is gone. */
  abstract endpointsOf(environmentId: number, applicationId: Id): Promise<ApplicationEndpoint[]>;

  /** An endpoint of any application by its id, or null. */
  abstract findEndpoint(environmentId: number, endpointId: Id): Promise<ApplicationEndpoint | null>;
}

/** Applications that are done away with. */
export abstract class ApplicationRemovals {
  /** With its endpoints and the destinations that they own; what waits for them becomes failed. Safe to repeat. */
  abstract removeWhole(environmentId: number, applicationId: Id): Promise<void>;
}

/** How endpoints are. */
export abstract class EndpointConditions {
  /** Throws 404 for an endpoint that is gone by now. */
  abstract find(environmentId: number, endpointId: Id): Promise<EndpointCondition>;
}
