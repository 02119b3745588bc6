import type { Id } from '#kernel/ids.js';
import type { NewRequest } from './accept.contract.js';

/** A duplicate of a request that created an event. It creates no event, but is stored as received. */
export interface DuplicateRequest {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
  endpointId: Id;
  duplicateOf: Id;
  request: NewRequest;
}
