/** The only source of time and randomness. Code that needs either takes a `Clock`, so that tests can control both. */
export abstract class Clock {
  /**
   * PostgreSQL's time as closely as this process knows it, in milliseconds. Use it for values that are stored or
   * compared between processes.
   */
  abstract now(): Date;

  /** Milliseconds since the Unix epoch: the same instant as `now()`. */
  abstract nowMs(): number;

  /** A number in [0, 1), for jitter and sampling. Never use it for secrets or ids. */
  abstract random(): number;

  /** Milliseconds since an arbitrary moment, never adjusted. Use it for durations within this process. */
  monotonicMs(): number {
    return this.nowMs();
  }
}

/**
 * Follows PostgreSQL's clock. Extrapolates from PostgreSQL's last known time with the machine's monotonic clock. A
 * wrong or adjusted wall clock of the machine therefore does not affect ids, due times or expiries. Starts from the
 * wall clock until PostgreSQL's time is known. Pseudo-random numbers come from the machine.
 */
export class SystemClock extends Clock {
  /** Difference between the time since the epoch and the monotonic clock. */
  private originMs = Date.now() - performance.now();

  override now(): Date {
    return new Date(this.nowMs());
  }

  override nowMs(): number {
    return Math.floor(this.originMs + performance.now());
  }

  override random(): number {
    return Math.random();
  }

  override monotonicMs(): number {
    return performance.now();
  }

  /** Sets the clock: the time was `epochMs` when the monotonic clock showed `monotonicMs`. */
  follow(epochMs: number, monotonicMs: number): void {
    this.originMs = epochMs - monotonicMs;
  }

  /** Returns how far this machine's wall clock is ahead of `nowMs`, in milliseconds. Negative if it is behind. */
  wallAheadMs(): number {
    return Date.now() - this.nowMs();
  }
}
