/** Number of waiting deliveries without an attempt in flight, and the time of their earliest next attempt. */
export interface WaitingDeliveries {
  count: number;
  /** True if counting stopped at a limit, so that there may be more than `count`. */
  isCapped: boolean;
  /** Time of the earliest retry; null if there is none. */
  nextAttemptAt: Date | null;
}
