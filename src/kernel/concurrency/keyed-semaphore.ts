const PLACES_PER_KEY = 100;

/**
 * A semaphore per key that limits concurrent work, for example requests to one transform or proxy URL. A host that does
 * not respond can thus occupy only a limited number of connections. Waiting calls get slots in order of arrival. A call
 * that waits longer than its time limit gets no slot.
 */
export class KeyedSemaphore {
  private readonly taken = new Map<string, number>();
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(private readonly perKeyMax = PLACES_PER_KEY) {}

  /**
   * Waits for a free slot, then runs `work` with the remaining part of `timeoutMs`. Returns null if no slot became free
   * in time.
   */
  async run<T>(key: string, timeoutMs: number, work: (leftMs: number) => Promise<T>): Promise<T | null> {
    const fromMs = performance.now();
    const taken = this.taken.get(key) ?? 0;
    if (taken < this.perKeyMax) this.taken.set(key, taken + 1);
    else if (!(await this.acquire(key, timeoutMs))) return null;
    try {
      return await work(Math.max(1, timeoutMs - (performance.now() - fromMs)));
    } finally {
      this.release(key);
    }
  }

  private acquire(key: string, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const line = this.waiting.get(key) ?? new Set();
      this.waiting.set(key, line);
      const enter = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        line.delete(enter);
        resolve(false);
      }, timeoutMs);
      line.add(enter);
    });
  }

  private release(key: string): void {
    const line = this.waiting.get(key);
    const [next] = line ?? [];
    if (next) {
      line?.delete(next);
      next();
      return;
    }
    this.waiting.delete(key);
    const taken = (this.taken.get(key) ?? 1) - 1;
    if (taken === 0) this.taken.delete(key);
    else this.taken.set(key, taken);
  }
}
