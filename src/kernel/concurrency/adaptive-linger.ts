/** Number of recent requests from which the arrival rate is computed. */
const SEEN = 8;
/** A linger (waiting for further requests) was useless if all requests of its group arrived within this time. */
const TOGETHER_MS = 1.5;
/** Number of consecutive useless lingers after which groups skip the linger. A single useless linger may be chance. */
const IN_VAIN = 2;
/**
 * Maximum number of consecutive groups that skip the linger. Each further useless linger doubles the number of groups
 * that skip it.
 */
const AT_ONCE_MAX = 64;

export interface LingerLimits {
  /** Maximum time that the first request of a group waits for further requests. */
  waitMsMax: number;
  /**
   * Maximum sum of linger and average write time. If writes are slow, no linger is needed, because further requests
   * arrive during the current write and form the next group.
   */
  lingerAndWriteMs: number;
  /** Number of requests at which a group is written immediately. */
  batchSize: number;
}

/**
 * Decides whether the first request of a group should wait (linger) for further requests before a group commit.
 *
 * A linger is worthwhile if the arrival rate makes another request likely before the linger ends. A single client that
 * sends each request after the previous response also has a high arrival rate, but its requests never share a group.
 * Each useless linger therefore increases the number of groups that skip the linger.
 *
 * Reads no clock: all times are passed in, as milliseconds of one monotonic clock.
 */
export class AdaptiveLinger {
  private readonly arrivalsMs: number[] = [];
  private writeMs = 0;
  private emptyWaits = 0;
  private skipsLeft = 0;

  constructor(private readonly limits: LingerLimits) {}

  get batchSize(): number {
    return this.limits.batchSize;
  }

  recordArrival(atMs: number): void {
    this.arrivalsMs.push(atMs);
    if (this.arrivalsMs.length > SEEN) this.arrivalsMs.shift();
  }

  /**
   * Returns how long the first request of a group waits for further requests, or 0. Call it once per group, because
   * each call counts one skipped linger.
   */
  lingerMs(nowMs: number): number {
    if (this.arrivalsMs.length < SEEN) return 0;
    const waitMs = Math.min(this.limits.waitMsMax, this.limits.lingerAndWriteMs - this.writeMs);
    if (waitMs < this.gapMs(nowMs)) return 0;
    if (this.skipsLeft === 0) return waitMs;
    this.skipsLeft -= 1;
    return 0;
  }

  /** Returns whether to end the linger, because no request is likely within the remaining time. */
  isComplete(restMs: number): boolean {
    return restMs < this.gapMs(this.arrivalsMs.at(-1) ?? 0);
  }

  /** Records that a group lingered. `spreadMs`: time between the arrivals of the group's first and last request. */
  recordDeparture(spreadMs: number): void {
    this.emptyWaits = spreadMs > TOGETHER_MS ? 0 : this.emptyWaits + 1;
    this.skipsLeft = this.emptyWaits < IN_VAIN ? 0 : Math.min(2 ** (this.emptyWaits - IN_VAIN + 1), AT_ONCE_MAX);
  }

  recordWrite(ms: number): void {
    this.writeMs += (ms - this.writeMs) / SEEN;
  }

  private gapMs(untilMs: number): number {
    return (untilMs - (this.arrivalsMs[0] ?? 0)) / (SEEN - 1);
  }
}
