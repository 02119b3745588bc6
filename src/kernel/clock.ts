/** The only source of time and randomness, so that tests can control both. */
export abstract class Clock {
  /** Returns the time by PostgreSQL's clock, as this process estimates it. For values that are stored or compared. */
  abstract now(): Date;

  abstract nowMs(): number;

  /** Returns a number in [0, 1), for jitter and sampling. Never use it for secrets or ids. */
  abstract random(): number;

  /** Returns milliseconds since an arbitrary moment. Never adjusted. Use it for durations within this process. */
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

  /** Sets the clock so that its time was `epochMs` when the monotonic clock showed `monotonicMs`. */
  follow(epochMs: number, monotonicMs: number): void {
    this.originMs = epochMs - monotonicMs;
  }

  /** Returns by how many milliseconds the wall clock is ahead of `nowMs`. Negative if it is behind. */
  wallAheadMs(): number {
    return Date.now() - this.nowMs();
  }
}
