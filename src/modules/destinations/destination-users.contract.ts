import type { Id } from '#kernel/ids.js';

/** A resource that uses a destination, such as a route. Ids are in the format of the API. */
export type DestinationUser =
  | { kind: 'route'; id: string; endpoint: string }
  | { kind: 'application_endpoint'; id: string; application: string }
  | { kind: 'alias'; id: string; address: string };

/** Returns the first `max` resources of a module that use a destination. Runs in the caller's transaction. */
export type FindDestinationUsers = (
  environmentId: number,
  destinationId: Id,
  max: number,
) => Promise<DestinationUser[]>;
