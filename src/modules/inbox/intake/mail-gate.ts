/**
 * Paced, messages go through in bursts: what goes on together is written together. One by one they cost a commit for
 * each step, which the deliveries that they yield to had to share the disk with. The next burst begins when it is worth
 * it, not before the first time and not after the second.
 */
const BURST_MS = 500;
const BURST_MS_MAX = 2_000;
/** As many as one environment reads at once. */
const BURST_WORTH = 24;
/** What was not used may be used later, up to so much: a burst that comes late lets nothing less through. */
const SAVED_MS = 2 * BURST_MS;
/** How often it is looked whether there is room, where there was none in time. */
const LOOK_MS = 20;
/** Messages of this size count as one. */
const BYTES_OF_ONE = 64 * 1024;

interface Waiter {
  timer: NodeJS.Timeout;
  enter: (isIn: boolean) => void;
}

/** Lets so many messages through per second, some at a time: who comes waits for its turn, in the order of arrival. */
export class MailGate {
  private perSecond = Infinity;
  /** May go on where there is no pace. */
  private left = Infinity;
  private tokens = 0;
  private atMs: number;
  private readonly line = new Set<Waiter>();
  private looking: NodeJS.Timeout | null = null;
  private burstMs = -Infinity;
  private ofBurst = 0;
  /** Messages let through so far, by their size. */
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

  /** Without a pace, but lets only so many go on until one is set: of those who wait, too. */
  openFor(count: number): void {
    this.fill();
    this.perSecond = Infinity;
    this.left = count;
    this.letIn();
  }

  /** How many of so many may go on now, which are counted. */
  take(max: number): number {
    this.fill();
    const taken =
      this.perSecond === Infinity
        ? Math.max(0, Math.min(max, this.left))
        : this.untilBurst() > 0
          ? 0
          : Math.max(0, Math.min(max, Math.floor(this.tokens)));
    if (taken > 0) [this.burstMs, this.ofBurst] = [this.atMs, taken];
    this.count(taken);
    return taken;
  }

  /** So many were not there, of those taken. */
  giveBack(count: number): void {
    this.count(-count);
    this.ofBurst -= count;
    // It was none.
    if (this.ofBurst <= 0) this.burstMs = -Infinity;
  }

  /** What one that was let through turned out to have. */
  weigh(bytes: number): void {
    if (bytes >= BYTES_OF_ONE) this.count(bytes / BYTES_OF_ONE);
  }

  /** Resolves when it is the caller's turn; false when that took too long. */
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
