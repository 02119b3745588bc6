import type { Circuit } from '#engine/circuit.js';
import type { RequestView } from '#engine/conditions/request-view.js';
import type { Id } from '#kernel/ids.js';

export interface Subscriber {
  id: Id;
  /** Destination of the endpoint's deliveries. Equals the endpoint's id if the endpoint has its own URL. */
  destinationId: Id;
  /** Whether the endpoint takes deliveries. Its destination may still be disabled. */
  isActive: boolean;
  /** False if the endpoint's filter timed out, so it is unknown whether the message matches. */
  isDecided: boolean;
}

export interface MessageTraits {
  eventType: string;
  channels: readonly string[];
  /** Returns the data that filters read. Called only if a filter reads the payload. */
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
  /** Null if the endpoint uses a registered destination, because the circuit then belongs to that destination. */
  circuit: Pick<Circuit, 'state' | 'openedAt'> | null;
}

export abstract class Applications {
  /**
   * Returns the endpoints that subscribe to a message, oldest first. Creates the application for an unknown uid. Throws
   * 404 for an unknown `app_` id and 422 for an invalid uid.
   */
  abstract subscribers(
    environmentId: number,
    application: string,
    traits: MessageTraits,
  ): Promise<{ applicationId: Id; subscribers: Subscriber[] }>;

  /** Returns an endpoint by its `ep_` id or its uid. Throws 404 if the application has no such endpoint. */
  abstract endpoint(environmentId: number, application: string, endpoint: string): Promise<ApplicationEndpoint>;

  /** Returns the application's id. Throws 404 if the application does not exist. */
  abstract find(environmentId: number, application: string): Promise<Id>;

  /** Returns the endpoints of an application, oldest first; empty if the application was deleted. */
  abstract endpointsOf(environmentId: number, applicationId: Id): Promise<ApplicationEndpoint[]>;

  abstract findEndpoint(environmentId: number, endpointId: Id): Promise<ApplicationEndpoint | null>;
}

export abstract class ApplicationRemovals {
  /** Removes an application, its endpoints and their own destinations. Waiting deliveries fail. Idempotent. */
  abstract removeWhole(environmentId: number, applicationId: Id): Promise<void>;
}

export abstract class EndpointConditions {
  /** Throws 404 if the endpoint was deleted. */
  abstract find(environmentId: number, endpointId: Id): Promise<EndpointCondition>;
}
