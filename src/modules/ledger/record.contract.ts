import type { Id } from '#kernel/ids.js';
import type { DeliveryKey } from './claims.contract.js';

/** The result of an attempt, or a decision made without one (`attempt` is null). */
export interface DeliveryResult extends DeliveryKey {
  claimedBy: Id;
  status: 'delivered' | 'failed' | 'dlq' | 'retrying';
  reason: string | null;
  /** For `retrying`: time from the commit, measured by PostgreSQL's clock so that the worker's does not matter. */
  dueInMs: number | null;
  /** Waits behind its target's gate instead of for a time. */
  parked: boolean;
  attemptsUsed: number;
  /** Made available for the target's consumer to pull. */
  pulled: boolean;
  /** False for an ad-hoc URL, which has no metrics. */
  counted: boolean;
  attempt: {
    number: number;
    startedAtMs: number;
    durationMs: number;
    httpStatus: number | null;
    error: string | null;
    excerpt: string | null;
    /** Request and response as JSON; absent if they are not stored. */
    exchange?: string | null;
  } | null;
}

export abstract class Results {
  /** False if the claim was lost, so that nothing was written. Retries until storage is available. */
  abstract record(result: DeliveryResult): Promise<boolean>;
}
