import { Injectable } from '@nestjs/common';
import type { Quota } from '#engine/token-bucket.js';
import { Clock } from '#kernel/clock.js';
import type { Cache } from '#kernel/concurrency/cache.js';
import { Config } from '#kernel/config/config.js';
import { ApiError } from '#kernel/errors.js';
import { clientNetwork } from './client-network.js';
import { type Counted, MemoryRateLimiter } from './rate-limiter.js';

/** Keys, sessions and tokens of portals that nobody has, which one client address may have looked up; fewer where its whole quota is smaller. */
const GUESSES: Quota = { count: 300, periodMs: 60_000 };

/** How many credentials are remembered as real, and how many addresses are counted at least. */
const ENTRIES_MAX = 10_000;

/**
 * Bounds what guesses at keys and sessions cost: a credential that was not seen here lately is looked up in PostgreSQL only while
 * its sender has guesses left, and one that turns out to be real costs him none. So whoever guesses without end costs no queries, and
 * takes nothing from those who share his address and are known here. Counted by each process for itself.
 */
@Injectable()
export class CredentialLookupLimiter {
  private readonly limiter: MemoryRateLimiter;
  private readonly quota: Quota | null;
  /** Hashes of credentials that were real when they were looked up, the longest unused ones first. */
  private readonly real = new Set<string>();

  constructor(config: Config, clock: Clock) {
    this.limiter = new MemoryRateLimiter(() => clock.nowMs(), ENTRIES_MAX);
    const whole = config.rateLimitKey ?? config.rateLimitOrg;
    this.quota = whole !== null && whole.count / whole.periodMs > GUESSES.count / GUESSES.periodMs ? GUESSES : whole;
  }

  /** What the cache has of a credential, by its hash. Rejects with 429 for a sender who has guessed too often; `from` is his address, null where nobody guesses. */
  look<V>(cache: Cache<V | null>, hashHex: string, from: string | null): Promise<V | null> {
    return cache.fresh(hashHex) ?? this.lookUpLimited(cache, hashHex, from);
  }

  private async lookUpLimited<V>(cache: Cache<V | null>, hashHex: string, from: string | null): Promise<V | null> {
    const counted =
      from === null || this.quota === null || this.real.has(hashHex)
        ? null
        : { id: clientNetwork(from), quota: this.quota };
    // Taken before anything is asked: many guesses at once are no more than one after the other.
    if (counted !== null) this.take(counted);
    const found = await cache.get(hashHex).catch((error: unknown) => {
      if (counted !== null) this.limiter.refund(counted);
      throw error;
    });
    if (counted !== null && found !== null) this.limiter.refund(counted);
    this.remember(hashHex, found !== null);
    return found;
  }

  private take(counted: Counted): void {
    const { allowed, retryAfterSeconds } = this.limiter.count(counted.id, [counted]);
    if (!allowed)
      throw new ApiError(
        'rate_limited',
        `Too many unknown keys or sessions from this address. Try again in ${retryAfterSeconds} s.`,
        {},
        retryAfterSeconds,
      );
  }

  private remember(hashHex: string, isReal: boolean): void {
    this.real.delete(hashHex);
    if (!isReal) return;
    this.real.add(hashHex);
    const [oldest] = this.real.size > ENTRIES_MAX ? this.real : [];
    if (oldest !== undefined) this.real.delete(oldest);
  }
}
