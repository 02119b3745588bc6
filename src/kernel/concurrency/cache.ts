interface Entry<V> {
  value: Promise<V>;
  /** The loaded value. Undefined while the load runs. */
  settled: V | undefined;
  loadedAtMs: number;
}

export interface CacheOptions {
  entriesMax: number;
  nowMs: () => number;
  /**
   * Returns the time up to which all change notifications have arrived (`Notifications.confirmedUntilMs`). Cached
   * entries were valid at this time, because no notification has invalidated them. Their age is therefore measured from
   * this time. Omit it for values that change merely because time passes.
   */
  confirmedUntilMs?: () => number;
}

/** Maximum age of a cached value. Limits how long a value stays outdated if its notification was lost. */
export const STALENESS_MAX_MS = 5_000;

/**
 * A read-through cache with one load at a time per key. Failed loads are not cached. Notifications of changes
 * invalidate entries. Entries expire at a maximum age, in case a notification was lost.
 */
export class Cache<V> {
  private readonly entries = new Map<string, Entry<V>>();

  constructor(
    private readonly load: (key: string) => Promise<V>,
    private readonly options: CacheOptions,
  ) {}

  get(key: string): Promise<V> {
    return this.fresh(key) ?? this.loaded(key);
  }

  /**
   * Returns the cached promise of the value. Returns undefined, and loads nothing, if the value is not cached or is
   * outdated.
   */
  fresh(key: string): Promise<V> | undefined {
    const known = this.entries.get(key);
    return known && this.freshUntilMs(known) > this.options.nowMs() ? known.value : undefined;
  }

  /**
   * Returns the value, or undefined if it is not loaded. Unlike `get`, creates no promise, because it is called for
   * every message.
   */
  known(key: string): V | undefined {
    const entry = this.entries.get(key);
    return entry && this.freshUntilMs(entry) > this.options.nowMs() ? entry.settled : undefined;
  }

  drop(key: string): void {
    this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }

  private loaded(key: string): Promise<V> {
    const nowMs = this.options.nowMs();
    const value = this.load(key);
    this.entries.delete(key);
    const entry: Entry<V> = { value, settled: undefined, loadedAtMs: nowMs };
    this.entries.set(key, entry);
    value.then(
      (settled) => void (entry.settled = settled),
      () => {
        if (this.entries.get(key) === entry) this.entries.delete(key);
      },
    );
    if (this.entries.size > this.options.entriesMax) this.evictOldest();
    return value;
  }

  private freshUntilMs({ loadedAtMs }: Entry<V>): number {
    return Math.max(loadedAtMs, this.options.confirmedUntilMs?.() ?? loadedAtMs) + STALENESS_MAX_MS;
  }

  private evictOldest(): void {
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }
}
