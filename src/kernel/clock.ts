/** The only source of time and randomness, so that tests can control both. */
export abstract class Clock {
  /** PostgreSQL's time as this process knows it. Use it for values that are stored or compared between processes. */
  abstract now(): Date;

  abstract nowMs(): number;

  /** A number in [0, 1), for jitter and sampling. Never use it for secrets or ids. */
  abstract random(): number;

  /** Milliseconds since an arbitrary moment, never adjusted. Use it for durations within this process. */
  monotonicMs(): number {
    return this.nowMs();
  }
}

/**
 * Extrapolates PostgreSQL's last known time with the machine's monotonic clock, so a wrong wall clock does not affect
 * ids, due times or expiries. Starts from the wall clock until PostgreSQL's time is known.
 */
export class SystemClock extends Clock {
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

  /** Lead of the wall clock over `nowMs`. Negative if it is behind. */
  wallAheadMs(): number {
    return Date.now() - this.nowMs();
  }
}
