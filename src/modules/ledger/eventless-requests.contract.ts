import type { Id } from '#kernel/ids.js';
import type { NewRequest } from './accept.contract.js';

/** A received request that creates no event but is stored: a duplicate, or a request whose body was too large. */
export interface EventlessRequest {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
  endpointId: Id;
  /** Event of the earlier request that this request duplicates. `null` if the request is not a duplicate. */
  duplicateOf: Id | null;
  /** True if the body was larger than the endpoint's limit, so that it is not stored. */
  isTooLarge: boolean;
  request: NewRequest;
}
