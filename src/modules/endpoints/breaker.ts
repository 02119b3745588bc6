const FAILURES_MAX = 3;
const OPEN_MS = 30_000;
const KEYS_MAX = 10_000;

/** Leaves out, for half a minute, what has failed three times in a row; then one try decides. Per process. */
export class Breaker {
  private readonly failures = new Map<string, { count: number; openUntilMs: number }>();

  constructor(private readonly nowMs: () => number) {}

  isOpen(key: string): boolean {
    const known = this.failures.get(key);
    return known !== undefined && known.openUntilMs > this.nowMs();
  }

  count(key: string, succeeded: boolean): void {
    if (succeeded) {
      this.failures.delete(key);
      return;
    }
    const count = (this.failures.get(key)?.count ?? 0) + 1;
    this.failures.delete(key);
    this.failures.set(key, { count, openUntilMs: count >= FAILURES_MAX ? this.nowMs() + OPEN_MS : 0 });
    const oldest = this.failures.keys().next();
    if (this.failures.size > KEYS_MAX && !oldest.done) this.failures.delete(oldest.value);
  }
}
