/**
 * Minimum and maximum time between two bursts while received mail is rate limited. The messages of a burst are admitted
 * together and share one commit, because commits slow down deliveries. After the minimum time, the next burst starts as
 * soon as the rate allows `BURST_WORTH` messages.
 */
const BURST_MS = 500;
const BURST_MS_MAX = 2_000;
/**
 * Number of messages that the rate must allow before the next burst starts. It equals the number of messages that one
 * environment reads concurrently.
 */
const BURST_WORTH = 24;
/**
 * Maximum time for which unused capacity accumulates. It exceeds the minimum time between bursts, so that a late burst
 * does not lower the average rate.
 */
const SAVED_MS = 2 * BURST_MS;
const LOOK_MS = 20;
/** Number of bytes that count as one message. A smaller message also counts as one. */
const BYTES_OF_ONE = 64 * 1024;

interface Waiter {
  timer: NodeJS.Timeout;
  enter: (isIn: boolean) => void;
}

/** Limits the rate of messages. Admits waiting messages in bursts, in the order of arrival. */
export class MailGate {
  private perSecond = Infinity;
  /** Number of messages that may still pass under the limit that `openFor` sets. Infinite without such a limit. */
  private left = Infinity;
  private tokens = 0;
  private atMs: number;
  private readonly line = new Set<Waiter>();
  private looking: NodeJS.Timeout | null = null;
  private burstMs = -Infinity;
  private ofBurst = 0;
  /** Number of messages that have passed the gate so far. A large message counts as several. */
  passed = 0;

  constructor(private readonly nowMs: () => number) {
    this.atMs = nowMs();
  }

  get pace(): number {
    return this.perSecond;
  }

  set pace(perSecond: number) {
    this.fill();
    this.perSecond = perSecond;
    this.left = Infinity;
    if (perSecond === Infinity) this.letIn();
  }

  /**
   * Removes the rate limit, but lets at most `count` messages pass until a new rate is set. `count` includes messages
   * that are already waiting.
   */
  openFor(count: number): void {
    this.fill();
    this.perSecond = Infinity;
    this.left = count;
    this.letIn();
  }

  /** Lets up to `max` messages pass without waiting. Returns how many may pass, and counts them as passed. */
  take(max: number): number {
    this.fill();
    const taken =
      this.perSecond === Infinity
        ? Math.max(0, Math.floor(Math.min(max, this.left)))
        : this.untilBurst() > 0
          ? 0
          : Math.max(0, Math.min(max, Math.floor(this.tokens)));
    if (taken > 0) [this.burstMs, this.ofBurst] = [this.atMs, taken];
    this.count(taken);
    return taken;
  }

  /**
   * Gives back capacity for `count` messages that `take` counted, because fewer messages were waiting than `take`
   * allowed.
   */
  giveBack(count: number): void {
    this.count(-count);
    this.ofBurst -= count;
    // If no message of the burst passed, the next burst may start immediately.
    if (this.ofBurst <= 0) this.burstMs = -Infinity;
  }

  weigh(bytes: number): void {
    if (bytes >= BYTES_OF_ONE) this.count(bytes / BYTES_OF_ONE);
  }

  /** Resolves with true once one message may pass the gate, or with false after `waitMs`. */
  enter(waitMs: number): Promise<boolean> {
    if (this.line.size === 0 && this.take(1) === 1) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        timer: setTimeout(() => {
          this.line.delete(waiter);
          resolve(false);
        }, waitMs).unref(),
        enter: resolve,
      };
      this.line.add(waiter);
      this.look();
    });
  }

  private look(): void {
    this.looking ??= setTimeout(
      () => {
        this.looking = null;
        this.letIn();
        if (this.line.size > 0) this.look();
      },
      Math.max(LOOK_MS, this.untilBurst()),
    );
  }

  private untilBurst(): number {
    const sinceMs = this.nowMs() - this.burstMs;
    const worthMs = sinceMs + ((BURST_WORTH - this.tokens) * 1000) / this.perSecond;
    return Math.max(BURST_MS, Math.min(BURST_MS_MAX, worthMs)) - sinceMs;
  }

  private letIn(): void {
    let left = this.take(this.line.size);
    for (const waiter of this.line) {
      if (left <= 0) return;
      left -= 1;
      this.line.delete(waiter);
      clearTimeout(waiter.timer);
      waiter.enter(true);
    }
  }

  private count(messages: number): void {
    this.passed += messages;
    this.left -= messages;
    if (this.perSecond !== Infinity) this.tokens -= messages;
  }

  private most(): number {
    const of = (ms: number): number => (this.perSecond * ms) / 1000;
    return Math.max(1, of(SAVED_MS), Math.min(BURST_WORTH, of(BURST_MS_MAX)));
  }

  private fill(): void {
    const nowMs = this.nowMs();
    if (this.perSecond === Infinity) this.tokens = 0;
    else this.tokens = Math.min(this.most(), this.tokens + (this.perSecond * (nowMs - this.atMs)) / 1000);
    this.atMs = nowMs;
  }
}
