/** A value with the moment that it was asked for. */
interface Entry<V> {
  value: Promise<V>;
  /** What it came to; undefined until it has. */
  settled: V | undefined;
  loadedAtMs: number;
}

/** How large a cache gets, and how it tells the time. */
export interface CacheOptions {
  entriesMax: number;
  nowMs: () => number;
  /**
   * Until when every change is known to have been announced here (`Notifications.heardUntilMs`): what no announcement
   * dropped since then is as good as loaded at that moment. Only for values that no passing of time changes.
   */
  heardUntilMs?: () => number;
}

/** No answer of a cache is older than this, whatever became of the notification that should have dropped it. */
export const STALENESS_MAX_MS = 5_000;

/**
 * A bounded read-through cache. One load at a time per key; a failed load is not kept.
 * Dropped entries come from notifications; the age limit is the net below them.
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

  /** What `get` would answer without loading it; undefined where it would load. */
  fresh(key: string): Promise<V> | undefined {
    const known = this.entries.get(key);
    return known && this.freshUntilMs(known) > this.options.nowMs() ? known.value : undefined;
  }

  /** What `get` would answer, where that is known already; undefined where it has to be waited for. What every message asks for costs no promise. */
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
    return Math.max(loadedAtMs, this.options.heardUntilMs?.() ?? loadedAtMs) + STALENESS_MAX_MS;
  }

  private evictOldest(): void {
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }
}
