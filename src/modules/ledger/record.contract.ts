import type { Id } from '#kernel/ids.js';
import type { DeliveryKey } from './claims.contract.js';

/** The result of an attempt, or a decision made without one (`attempt` is null). */
export interface DeliveryResult extends DeliveryKey {
  claimedBy: Id;
  status: 'delivered' | 'failed' | 'dlq' | 'retrying';
  reason: string | null;
  /** For `retrying`: delay between the commit and the next attempt, by PostgreSQL's clock. */
  dueInMs: number | null;
  /** True if the delivery waits until its target's gate opens, instead of waiting for a point in time. */
  parked: boolean;
  attemptsUsed: number;
  /** True if the delivery was made available for the target's consumer to pull. */
  pulled: boolean;
  /** True if metrics include the delivery. False for an ad-hoc URL, which has no metrics. */
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
