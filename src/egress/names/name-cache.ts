import type { Address } from './address.js';

export interface Found {
  addresses: readonly Address[];
  ttlSeconds: number;
}

export interface NameCacheOptions {
  entriesMax: number;
  /** Returns the time on a monotonic clock, in milliseconds. */
  nowMs: () => number;
}

interface Entry {
  found: Promise<Found>;
  /** Time until which the result is fresh. Infinity while the lookup is running. */
  freshUntilMs: number;
}

/** Minimum TTL: a TTL of 0 would cause one lookup per connection. */
const TTL_SECONDS_MIN = 1;
/** Maximum TTL. Limits how long connections use the old address of a receiver that has moved. */
const TTL_SECONDS_MAX = 300;
/** Minimum time between two lookups of a name that does not resolve. */
const FAILURE_MS = 5_000;

/** Caches lookup results for their TTL. Runs one lookup at a time per name. Caches failures briefly. */
export class NameCache {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly options: NameCacheOptions) {}

  async get(name: string, lookUp: () => Promise<Found>): Promise<readonly Address[]> {
    const known = this.entries.get(name);
    const entry = known !== undefined && known.freshUntilMs > this.options.nowMs() ? known : this.open(name, lookUp);
    return (await entry.found).addresses;
  }

  private open(name: string, lookUp: () => Promise<Found>): Entry {
    const entry: Entry = { found: lookUp(), freshUntilMs: Number.POSITIVE_INFINITY };
    const keepFor = (ms: number): void => void (entry.freshUntilMs = this.options.nowMs() + ms);
    entry.found.then(
      ({ ttlSeconds }) => keepFor(Math.min(Math.max(ttlSeconds, TTL_SECONDS_MIN), TTL_SECONDS_MAX) * 1_000),
      () => keepFor(FAILURE_MS),
    );
    // Inserts the entry at the end, so that the oldest result is evicted first.
    this.entries.delete(name);
    this.entries.set(name, entry);
    if (this.entries.size > this.options.entriesMax) this.evictOldest();
    return entry;
  }

  private evictOldest(): void {
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }
}
