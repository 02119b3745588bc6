export const PLACE_MS_MAX = 60_000;
const AT_ONCE = 5;
const SLOW_FOR_MS = 300_000;
/** Duration above which a conversation counts as stalled. See `DomainThrottle`. */
const STALLED_MS = 30_000;

interface Gate {
  inUse: number;
  limit: number;
  /** Time on the monotonic clock until which the limit stays halved. */
  slowUntilMs: number;
  waiting: (() => void)[];
  /**
   * Number of submissions that wait for a slot, or were woken and must check again. The state of the domain stays in
   * memory while there are any.
   */
  waiters: number;
  /** Number of slots in use whose conversation is stalled. */
  stalled: number;
}

/**
 * Semaphore that limits the concurrent messages per recipient domain in this process. The limit is five. It is halved
 * for five minutes after a server of the domain has requested fewer messages.
 *
 * If all slots of a domain are in use and one of their conversations has stalled, `enter` returns null for further
 * submissions. If they waited, they would occupy delivery slots that other deliveries could use.
 */
export class DomainThrottle {
  private readonly gates = new Map<string, Gate>();

  constructor(
    private readonly monotonicMs: () => number = () => performance.now(),
    private readonly options: { atOnce?: number; stalledMs?: number } = {},
  ) {}

  /**
   * Waits for a slot of each domain. Returns a function that frees the slots. Returns null if the signal is aborted or
   * a domain is stalled.
   */
  async enter(domains: readonly string[], signal: AbortSignal): Promise<(() => void) | null> {
    const held: string[] = [];
    // The domains are sorted, so that two submissions cannot deadlock.
    for (const domain of [...new Set(domains)].sort()) {
      if (!(await this.take(domain, signal))) {
        for (const each of held) this.leave(each, false);
        return null;
      }
      held.push(domain);
    }
    return this.hold(held);
  }

  private hold(domains: string[]): () => void {
    let isStalled = false;
    const timer = setTimeout(() => {
      isStalled = true;
      for (const domain of domains) this.stall(domain);
    }, this.options.stalledMs ?? STALLED_MS);
    timer.unref();
    return () => {
      clearTimeout(timer);
      for (const domain of domains.splice(0)) this.leave(domain, isStalled);
    };
  }

  slowDown(domain: string): void {
    const gate = this.gateOf(domain);
    gate.limit = Math.max(1, Math.floor(this.limitOf(gate) / 2));
    gate.slowUntilMs = this.monotonicMs() + SLOW_FOR_MS;
  }

  private async take(domain: string, signal: AbortSignal): Promise<boolean> {
    const gate = this.gateOf(domain);
    while (gate.inUse >= this.limitOf(gate)) {
      if (signal.aborted || gate.stalled > 0) return false;
      gate.waiters += 1;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          signal.removeEventListener('abort', wake);
          gate.waiting = gate.waiting.filter((other) => other !== wake);
          resolve();
        };
        signal.addEventListener('abort', wake, { once: true });
        gate.waiting.push(wake);
      });
      gate.waiters -= 1;
    }
    gate.inUse += 1;
    return true;
  }

  private stall(domain: string): void {
    const gate = this.gateOf(domain);
    gate.stalled += 1;
    for (const wake of gate.waiting.slice()) wake();
  }

  private leave(domain: string, isStalled: boolean): void {
    const gate = this.gateOf(domain);
    gate.inUse -= 1;
    gate.stalled -= isStalled ? 1 : 0;
    for (const wake of gate.waiting.slice(0, Math.max(0, this.limitOf(gate) - gate.inUse))) wake();
    if (gate.inUse === 0 && gate.waiters === 0 && gate.slowUntilMs <= this.monotonicMs()) this.gates.delete(domain);
  }

  private get atOnce(): number {
    return this.options.atOnce ?? AT_ONCE;
  }

  private limitOf(gate: Gate): number {
    if (gate.slowUntilMs <= this.monotonicMs()) gate.limit = this.atOnce;
    return gate.limit;
  }

  private gateOf(domain: string): Gate {
    let gate = this.gates.get(domain);
    if (gate === undefined) {
      gate = { inUse: 0, limit: this.atOnce, slowUntilMs: 0, waiting: [], waiters: 0, stalled: 0 };
      this.gates.set(domain, gate);
    }
    return gate;
  }
}
