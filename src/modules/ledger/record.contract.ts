import type { Id } from '#kernel/ids.js';
import type { DeliveryKey } from './claims.contract.js';

/** The result of an attempt, or a decision without an attempt (`attempt` is null). */
export interface DeliveryResult extends DeliveryKey {
  claimedBy: Id;
  status: 'delivered' | 'failed' | 'dlq' | 'retrying';
  reason: string | null;
  /** Delay of the next attempt after the commit, by PostgreSQL's clock. Set only for `retrying`. */
  dueInMs: number | null;
  /** True if the delivery is parked until its target accepts deliveries again. Otherwise it is due after `dueInMs`. */
  parked: boolean;
  attemptsUsed: number;
  /** True if the target's consumer can now pull the delivery. */
  pulled: boolean;
  /** True if the delivery is counted in metrics. False for an ad-hoc URL, which has no metrics. */
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
