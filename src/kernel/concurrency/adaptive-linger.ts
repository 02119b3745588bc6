/** Number of recent requests from which the arrival rate is computed. */
const SEEN = 8;
/** Threshold for a useless linger: requests this close together form a group even without a linger. */
const TOGETHER_MS = 1.5;
/** Number of consecutive useless lingers after which lingers are skipped. A single one may be a coincidence. */
const IN_VAIN = 2;
/** Maximum number of consecutive groups that skip the linger. Each useless linger doubles the number of skips. */
const AT_ONCE_MAX = 64;

export interface LingerLimits {
  /** Maximum wait of the first request of a group. */
  waitMsMax: number;
  /** Maximum of the linger plus the average write time. During slow writes, requests arrive even without a linger. */
  lingerAndWriteMs: number;
  /** Number of requests at which a group is written immediately. */
  batchSize: number;
}

/**
 * Decides whether the first request of a group should wait for others before a group commit.
 *
 * Lingering pays if the arrival rate makes another request within the linger likely. It does not pay for a single
 * client. After a pause, the rate is low. If each request follows the previous response, the rate is high, but no
 * second request arrives. Such lingers gain nothing, and are then tried less and less often.
 *
 * Pure: takes and returns values. Times are milliseconds of one monotonic clock.
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

  /** Returns how long a group's first request waits for others, or 0. Call once per group: it counts skips. */
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

  /** Records a group that lingered. `spreadMs`: time between its first and last arrival. */
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
