/** Arrivals that the rate is taken from. */
const SEEN = 8;
/** Who comes within this comes together, and would have met without a wait. */
const TOGETHER_MS = 1.5;
/** Who come on their own come close to each other now and then; so many groups one after the other that waited in vain are no chance any more. */
const IN_VAIN = 2;
/** With each further group that waited in vain twice as many leave at once: at most so many. */
const AT_ONCE_MAX = 64;

/** What a group waits for. */
export interface LingerLimits {
  /** Longest wait of the first of a group. */
  waitMsMax: number;
  /** Waiting and writing together: where writing is slow, what comes meanwhile is company enough. */
  lingerAndWriteMs: number;
  /** A group of so many waits for no more. */
  batchSize: number;
}

/**
 * Whether it pays for the first of a group to wait for others. It does where they come so often that one is to be expected within the
 * wait; and not for who comes alone: neither after a pause, nor where the next come only when those before have their answers, which looks
 * like a rate and is company to nobody. That is seen by waiting in vain, and tried ever less often.
 *
 * Values in, values out: times are milliseconds of one monotonic clock.
 */
export class AdaptiveLinger {
  private readonly arrivalsMs: number[] = [];
  private writeMs = 0;
  private emptyWaits = 0;
  private skipsLeft = 0;

  constructor(private readonly limits: LingerLimits) {}

  /** How many are enough. */
  get batchSize(): number {
    return this.limits.batchSize;
  }

  /** Somebody comes. */
  recordArrival(atMs: number): void {
    this.arrivalsMs.push(atMs);
    if (this.arrivalsMs.length > SEEN) this.arrivalsMs.shift();
  }

  /** How long the first of a group may wait; 0 where nobody is to be expected. Asked once for each group. */
  lingerMs(nowMs: number): number {
    if (this.arrivalsMs.length < SEEN) return 0;
    const waitMs = Math.min(this.limits.waitMsMax, this.limits.lingerAndWriteMs - this.writeMs);
    if (waitMs < this.gapMs(nowMs)) return 0;
    if (this.skipsLeft === 0) return waitMs;
    this.skipsLeft -= 1;
    return 0;
  }

  /** Whether the next one is not to be expected before what is left of a wait is over: then nobody is waited for. */
  isComplete(restMs: number): boolean {
    return restMs < this.gapMs(this.arrivalsMs.at(-1) ?? 0);
  }

  /** A group that had waited leaves; its last one came so long after its first. */
  recordDeparture(spreadMs: number): void {
    this.emptyWaits = spreadMs > TOGETHER_MS ? 0 : this.emptyWaits + 1;
    this.skipsLeft = this.emptyWaits < IN_VAIN ? 0 : Math.min(2 ** (this.emptyWaits - IN_VAIN + 1), AT_ONCE_MAX);
  }

  /** How long a group was written. */
  recordWrite(ms: number): void {
    this.writeMs += (ms - this.writeMs) / SEEN;
  }

  /** How far apart they came until then. */
  private gapMs(untilMs: number): number {
    return (untilMs - (this.arrivalsMs[0] ?? 0)) / (SEEN - 1);
  }
}
