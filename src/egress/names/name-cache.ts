import type { Address } from './address.js';

/** The addresses of a name, and for how long they may be used. */
export interface Found {
  addresses: readonly Address[];
  ttlSeconds: number;
}

export interface NameCacheOptions {
  entriesMax: number;
  /** Monotonic. */
  nowMs: () => number;
}

interface Entry {
  found: Promise<Found>;
  /** Endless while the look-up runs. */
  freshUntilMs: number;
}

/** A server that says 0 would have every connection wait for a look-up of its own. */
const TTL_SECONDS_MIN = 1;
/** Like the age of a connection: a receiver that moves is not called at its old address for much longer. */
const TTL_SECONDS_MAX = 300;
/** A name that does not resolve costs one look-up in this time, whoever asks for it. */
const FAILURE_MS = 5_000;

/** What look-ups answered, for as long as they said; one look-up at a time per name. Failures are kept briefly. */
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
    // Set anew, so that the oldest answer is the first to go.
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
