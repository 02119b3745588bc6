import { Injectable } from '@nestjs/common';
import type { Quota } from '#engine/token-bucket.js';
import { Clock } from '#kernel/clock.js';
import type { Cache } from '#kernel/concurrency/cache.js';
import { Config } from '#kernel/config/config.js';
import { ApiError } from '#kernel/errors.js';
import { clientNetwork } from './client-network.js';
import { type Counted, MemoryRateLimiter } from './rate-limiter.js';

/**
 * Maximum lookups of unknown credentials per client address and minute. If the configured rate limit is lower, it
 * applies instead.
 */
const GUESSES: Quota = { count: 300, periodMs: 60_000 };

/**
 * Maximum number of valid credentials that are remembered. Also the number of client addresses whose lookups are
 * counted.
 */
const ENTRIES_MAX = 10_000;

/**
 * Limits the guessing of credentials. A credential that this process has not seen recently costs a lookup in
 * PostgreSQL. Each client address has a limited number of these lookups per minute. A lookup that finds a credential
 * does not count, so callers with a valid key at the same address are unaffected. Each process counts separately.
 */
@Injectable()
export class CredentialLookupLimiter {
  private readonly limiter: MemoryRateLimiter;
  private readonly quota: Quota | null;
  /** Hashes of credentials that existed at their last lookup, least recently used first. */
  private readonly real = new Set<string>();

  constructor(config: Config, clock: Clock) {
    this.limiter = new MemoryRateLimiter(() => clock.nowMs(), ENTRIES_MAX);
    const whole = config.rateLimitKey ?? config.rateLimitOrg;
    this.quota = whole !== null && whole.count / whole.periodMs > GUESSES.count / GUESSES.periodMs ? GUESSES : whole;
  }

  /**
   * Returns a credential's value or null. Rejects with 429 if the client address `from` has no lookups left. A null
   * `from` has no limit.
   */
  look<V>(cache: Cache<V | null>, hashHex: string, from: string | null): Promise<V | null> {
    return cache.fresh(hashHex) ?? this.lookUpLimited(cache, hashHex, from);
  }

  private async lookUpLimited<V>(cache: Cache<V | null>, hashHex: string, from: string | null): Promise<V | null> {
    const counted =
      from === null || this.quota === null || this.real.has(hashHex)
        ? null
        : { id: clientNetwork(from), quota: this.quota };
    // Counted before the lookup starts, so that concurrent guesses cannot exceed the limit.
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
