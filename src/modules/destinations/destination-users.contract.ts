import type { Id } from '#kernel/ids.js';

/** What sends to a destination, with ids as the API shows them: a route of an endpoint, an endpoint of an application, or an alias. */
export type DestinationUser =
  | { kind: 'route'; id: string; endpoint: string }
  | { kind: 'application_endpoint'; id: string; application: string }
  | { kind: 'alias'; id: string; address: string };

/** The first `max` of a context's users of a destination, inside the caller's transaction. */
export type FindDestinationUsers = (
  environmentId: number,
  destinationId: Id,
  max: number,
) => Promise<DestinationUser[]>;

/** Who uses which destination: what is in use can't be deleted. Connected by the contexts that use destinations. */
export abstract class DestinationUsers {
  /** At most `max`. */
  abstract list(environmentId: number, destinationId: Id, max: number): Promise<DestinationUser[]>;

  abstract attach(find: FindDestinationUsers): void;
}
