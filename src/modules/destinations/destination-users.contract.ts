import type { Id } from '#kernel/ids.js';

/** A user of a destination, with ids in the format of the API. */
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
