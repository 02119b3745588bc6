/** Waiting deliveries without an attempt in flight: their number and the earliest next attempt. */
export interface WaitingDeliveries {
  count: number;
  /** True if counting stopped at a limit, so that there may be more than `count`. */
  isCapped: boolean;
  /** Earliest next attempt of a delivery that was already attempted; null if there is none. */
  nextAttemptAt: Date | null;
}
