import type { Id } from '#kernel/ids.js';
import type { DeliveryKey } from './claims.contract.js';

/** What an attempt came to, or what was decided without one (`attempt` is null). */
export interface DeliveryResult extends DeliveryKey {
  claimedBy: Id;
  status: 'delivered' | 'failed' | 'dlq' | 'retrying';
  reason: string | null;
  /** In how many milliseconds from the commit the next attempt is due; for `retrying`. By PostgreSQL's clock, whatever the worker's shows. */
  dueInMs: number | null;
  /** True when the delivery waits for its target rather than for a time. */
  parked: boolean;
  attemptsUsed: number;
  /** True when it was put where its target's consumer fetches it. */
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
    /** What was sent and answered, as JSON; left out where nothing is kept of it. */
    exchange?: string | null;
  } | null;
}

/** What came of deliveries. */
export abstract class Results {
  /** Resolves to false when the claim was lost and the result was not written. Waits out an absent storage. */
  abstract record(result: DeliveryResult): Promise<boolean>;
}
