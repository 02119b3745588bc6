import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
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

/** The commit of the event decides which request was the first: see `Ledger.receive`. */
export abstract class Deduplication {
  /** Null if there was no first request with this key, or the key has expired. */
  abstract findAnswer(request: IdempotentRequest): Promise<StoredAnswer | null>;

  /** Resolves once committed. Throws 503 while storage is unavailable; the provider may send the request again. */
  abstract record(repeat: DuplicateRequest): Promise<void>;
}
