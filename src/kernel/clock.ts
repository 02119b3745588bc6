/**
 * The only source of time and chance. Everything that needs one takes a `Clock`, so that
 * a test decides what time it is and which way the dice fall.
 */
export abstract class Clock {
  /** The wall-clock time, with milliseconds. */
  abstract now(): Date;

  /** Milliseconds since the Unix epoch: the same instant as `now()`. */
  abstract nowMs(): number;

  /** A number in [0, 1), for jitter and sampling; never for secrets or ids. */
  abstract random(): number;
}

/** The machine's own clock and pseudo-random numbers. */
export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }

  override nowMs(): number {
    return Date.now();
  }

  override random(): number {
    return Math.random();
  }
}
