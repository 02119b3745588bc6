import type { Id } from '#kernel/ids.js';

/**
 * A user of a destination, with ids in the format of the API: a route of an endpoint, an endpoint of an application, or
 * an alias.
 */
export type DestinationUser =
  | { kind: 'route'; id: string; endpoint: string }
  | { kind: 'application_endpoint'; id: string; application: string }
  | { kind: 'alias'; id: string; address: string };

/** Returns the first `max` users of a destination within one module, in the caller's transaction. */
export type FindDestinationUsers = (
  environmentId: number,
  destinationId: Id,
  max: number,
) => Promise<DestinationUser[]>;

/**
 * Finds the users of a destination, because a destination in use cannot be deleted. The modules that use destinations
 * register their lookups here.
 */
export abstract class DestinationUsers {
  /** Returns at most `max` users. */
  abstract list(environmentId: number, destinationId: Id, max: number): Promise<DestinationUser[]>;

  abstract attach(find: FindDestinationUsers): void;
}
