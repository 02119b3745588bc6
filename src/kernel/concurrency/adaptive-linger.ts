/** Number of recent arrivals that the rate is computed from. */
const SEEN = 8;
/** Requests that arrive within this time would form a group without a linger. The linger gained nothing. */
const TOGETHER_MS = 1.5;
/**
 * Unrelated requests occasionally arrive close together. After this many consecutive lingers that gained nothing, treat
 * the pattern as real.
 */
const IN_VAIN = 2;
/** Maximum number of groups that skip the linger. The number doubles with each further linger that gained nothing. */
const AT_ONCE_MAX = 64;

/** Limits of a linger. */
export interface LingerLimits {
  /** Longest wait of the first request of a group. */
  waitMsMax: number;
  /** Maximum of linger and write time together. If writes are slow, enough requests arrive during the write. */
  lingerAndWriteMs: number;
  /** A group of this size is written immediately. */
  batchSize: number;
}

/**
 * Decides whether the first request of a group should wait for others before a group commit.
 *
 * Lingering pays if the arrival rate makes another request within the linger likely. It does not pay for a single
 * client, neither after a pause nor if each request follows the previous response: that looks like a rate, but no
 * second request arrives. Such a pattern shows in lingers that gained nothing. Lingers are then tried less and less
 * often.
 *
 * Pure: takes and returns values. Times are milliseconds of one monotonic clock.
 */
export class AdaptiveLinger {
  private readonly arrivalsMs: number[] = [];
  private writeMs = 0;
  private emptyWaits = 0;
  private skipsLeft = 0;

  constructor(private readonly limits: LingerLimits) {}

  /** Group size that ends a linger. */
  get batchSize(): number {
    return this.limits.batchSize;
  }

  /** Records the arrival of a request. */
  recordArrival(atMs: number): void {
    this.arrivalsMs.push(atMs);
    if (this.arrivalsMs.length > SEEN) this.arrivalsMs.shift();
  }

  /**
   * Returns how long the first request of a group may wait, or 0 if no further request is likely. Call it once per
   * group, because a skipped linger is counted.
   */
  lingerMs(nowMs: number): number {
    if (this.arrivalsMs.length < SEEN) return 0;
    const waitMs = Math.min(this.limits.waitMsMax, this.limits.lingerAndWriteMs - this.writeMs);
    if (waitMs < this.gapMs(nowMs)) return 0;
    if (this.skipsLeft === 0) return waitMs;
    this.skipsLeft -= 1;
    return 0;
  }

  /** Returns whether the next request is unlikely to arrive within the remaining time. The linger then ends. */
  isComplete(restMs: number): boolean {
    return restMs < this.gapMs(this.arrivalsMs.at(-1) ?? 0);
  }

  /** Records that a group which lingered is complete. `spreadMs`: time between its first and last arrival. */
  recordDeparture(spreadMs: number): void {
    this.emptyWaits = spreadMs > TOGETHER_MS ? 0 : this.emptyWaits + 1;
    this.skipsLeft = this.emptyWaits < IN_VAIN ? 0 : Math.min(2 ** (this.emptyWaits - IN_VAIN + 1), AT_ONCE_MAX);
  }

  /** Records how long a group's write took. */
  recordWrite(ms: number): void {
    this.writeMs += (ms - this.writeMs) / SEEN;
  }

  /** Returns the mean time between arrivals until `untilMs`. */
  private gapMs(untilMs: number): number {
    return (untilMs - (this.arrivalsMs[0] ?? 0)) / (SEEN - 1);
  }
}
