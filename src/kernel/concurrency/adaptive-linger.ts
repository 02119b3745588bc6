/** Arrivals that the rate is taken from. */
const SEEN = 8;
/** Who comes within this comes together, and would have met without a wait. */
const TOGETHER_MS = 1.5;
/** Who come on their own come close to each other now and then; so many groups one after the other that waited in vain are no chance any more. */
const IN_VAIN = 2;
/** With each further group that waited in vain twice as many leave at once: at most so many. */
const AT_ONCE_MAX = 64;

/** What a group waits for. */
export interface CompanyLimits {
  /** Longest wait of the first of a group. */
  waitMsMax: number;
  /** Waiting and writing together: where writing is slow, what comes meanwhile is company enough. */
  togetherMs: number;
  /** A group of so many waits for no more. */
  enough: number;
}

/**
 * Whether it pays for the first of a group to wait for others. It does where they come so often that one is to be expected within the
 * wait; and not for who comes alone: neither after a pause, nor where the next come only when those before have their answers, which looks
 * like a rate and is company to nobody. That is seen by waiting in vain, and tried ever less often.
 *
 * Values in, values out: times are milliseconds of one monotonic clock.
 */
export class Company {
  private readonly cameMs: number[] = [];
  private writeMs = 0;
  private inVain = 0;
  private leaveAtOnce = 0;

  constructor(private readonly limits: CompanyLimits) {}

  /** How many are enough. */
  get enough(): number {
    return this.limits.enough;
  }

  /** Somebody comes. */
  came(atMs: number): void {
    this.cameMs.push(atMs);
    if (this.cameMs.length > SEEN) this.cameMs.shift();
  }

  /** How long the first of a group may wait; 0 where nobody is to be expected. Asked once for each group. */
  patienceMs(nowMs: number): number {
    if (this.cameMs.length < SEEN) return 0;
    const waitMs = Math.min(this.limits.waitMsMax, this.limits.togetherMs - this.writeMs);
    if (waitMs < this.gapMs(nowMs)) return 0;
    if (this.leaveAtOnce === 0) return waitMs;
    this.leaveAtOnce -= 1;
    return 0;
  }

  /** Whether the next one is not to be expected before what is left of a wait is over: then nobody is waited for. */
  isComplete(restMs: number): boolean {
    return restMs < this.gapMs(this.cameMs.at(-1) ?? 0);
  }

  /** A group that had waited leaves; its last one came so long after its first. */
  left(spreadMs: number): void {
    this.inVain = spreadMs > TOGETHER_MS ? 0 : this.inVain + 1;
    this.leaveAtOnce = this.inVain < IN_VAIN ? 0 : Math.min(2 ** (this.inVain - IN_VAIN + 1), AT_ONCE_MAX);
  }

  /** How long a group was written. */
  wrote(ms: number): void {
    this.writeMs += (ms - this.writeMs) / SEEN;
  }

  /** How far apart they came until then. */
  private gapMs(untilMs: number): number {
    return (untilMs - (this.cameMs[0] ?? 0)) / (SEEN - 1);
  }
}
