/** Recent arrivals that the rate is computed from. */
const SEEN = 8;
/** Requests that arrive within this time would form a group without a linger. The linger gained nothing. */
const TOGETHER_MS = 1.5;
/** Unrelated requests occasionally arrive together. So many consecutive vain lingers make a pattern. */
const IN_VAIN = 2;
/** Maximum of groups that skip the linger. Doubles with each further vain linger. */
const AT_ONCE_MAX = 64;

export interface LingerLimits {
  /** Wait of the first request of a group. */
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

  get batchSize(): number {
    return this.limits.batchSize;
  }

  recordArrival(atMs: number): void {
    this.arrivalsMs.push(atMs);
    if (this.arrivalsMs.length > SEEN) this.arrivalsMs.shift();
  }

  /** Wait of the first request, or 0 if no further one is likely. Call it once per group: skips are counted. */
  lingerMs(nowMs: number): number {
    if (this.arrivalsMs.length < SEEN) return 0;
    const waitMs = Math.min(this.limits.waitMsMax, this.limits.lingerAndWriteMs - this.writeMs);
    if (waitMs < this.gapMs(nowMs)) return 0;
    if (this.skipsLeft === 0) return waitMs;
    this.skipsLeft -= 1;
    return 0;
  }

  /** The linger ends if the next request is unlikely to arrive within the remaining time. */
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
