/**
 * The only source of time and chance. Everything that needs one takes a `Clock`, so that
 * a test decides what time it is and which way the dice fall.
 */
export abstract class Clock {
  /** The time of PostgreSQL as near as this process knows it, with milliseconds: what is stored and compared between processes. */
  abstract now(): Date;

  /** Milliseconds since the Unix epoch: the same instant as `now()`. */
  abstract nowMs(): number;

  /** A number in [0, 1), for jitter and sampling; never for secrets or ids. */
  abstract random(): number;

  /** Milliseconds since a moment that nobody knows, never set back or forward: for how long something takes in this process. */
  monotonicMs(): number {
    return this.nowMs();
  }
}

/**
 * Counts on by the machine's monotonic clock from the time that PostgreSQL told last, so that a machine whose wall clock
 * is wrong, or is set while it runs, makes no id, no due time and no expiry of another day. Until it is told for the first
 * time it counts from the wall clock. Pseudo-random numbers are the machine's own.
 */
export class SystemClock extends Clock {
  /** What the monotonic clock lacks of the time since the epoch. */
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

  /** It was `epochMs` when the monotonic clock showed `monotonicMs`. */
  follow(epochMs: number, monotonicMs: number): void {
    this.originMs = epochMs - monotonicMs;
  }

  /** How far this machine's wall clock is ahead of `nowMs`, in milliseconds; negative when it is behind. */
  wallAheadMs(): number {
    return Date.now() - this.nowMs();
  }
}
