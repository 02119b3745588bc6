import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import type { Id } from '#kernel/ids.js';
import type { NewRequest } from './accept.contract.js';

/** A request that repeats one which created an event. It creates no event, but is kept as it was received. */
export interface DuplicateRequest {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
  endpointId: Id;
  /** The event that the first request created. */
  duplicateOf: Id;
  request: NewRequest;
}

/**
 * Deduplication of received requests. The commit of the event decides which request was the first: see
 * `Ledger.receive`.
 */
export abstract class Deduplication {
  /** Returns the answer to the first request with this key, or null if there was none or the key has expired. */
  abstract findAnswer(request: IdempotentRequest): Promise<StoredAnswer | null>;

  /**
   * Records a duplicate, and resolves once it is committed. Throws 503 while storage is unavailable; the provider may
   * send the request again.
   */
  abstract record(repeat: DuplicateRequest): Promise<void>;
}
