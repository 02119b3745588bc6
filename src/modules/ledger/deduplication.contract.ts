import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import type { Id } from '#kernel/ids.js';
import type { NewRequest } from './accept.contract.js';

/** A request that repeats one which became an event: it becomes none, and is kept as it came. */
export interface DuplicateRequest {
  environmentId: number;
  id: Id;
  expiresOnDay: number;
  endpointId: Id;
  /** The event that the first one became. */
  duplicateOf: Id;
  request: NewRequest;
}

/** Requests that came again. Which one was the first is decided by the commit of its event: see `Ledger.receive`. */
export abstract class Deduplication {
  /** What the first request with this key was answered; null when there was none, or its time has passed. */
  abstract findAnswer(request: IdempotentRequest): Promise<StoredAnswer | null>;

  /** Resolves once the request is committed. Throws 503 when storage is away: it may be sent again. */
  abstract record(repeat: DuplicateRequest): Promise<void>;
}
