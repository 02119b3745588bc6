import { type Bucket, fullBucket, type Quota, take, type Taken } from '#engine/token-bucket.js';

/** A bucket that a request counts against. */
export interface Counted {
  id: string;
  quota: Quota;
}

/** Values of the `RateLimit-*` headers, from the tighter of the buckets. */
export interface QuotaVerdict extends Taken {
  limit: number;
}

/** Counts requests. A rejected request costs nothing. */
export abstract class RateLimiter {
  /**
   * Takes one token from every bucket, or from none if one of them is empty. `group` names what the buckets have in
   * common (the organization), so that a Redis cluster keeps them on one node. Never throws.
   */
  abstract count(group: string, buckets: readonly Counted[]): QuotaVerdict | Promise<QuotaVerdict>;
}

/** Token buckets in the memory of this process. */
export class MemoryRateLimiter extends RateLimiter {
  private recent = new Map<string, Bucket>();
  private older = new Map<string, Bucket>();

  /**
   * Keeps between `bucketsMax` and twice as many buckets. It evicts the least recently used ones, which makes them full
   * again.
   */
  constructor(
    private readonly nowMs: () => number,
    private readonly bucketsMax = 50_000,
  ) {
    super();
  }

  override count(_group: string, buckets: readonly Counted[]): QuotaVerdict {
    const nowMs = this.nowMs();
    const taken = buckets.map(({ id, quota }) => take(this.bucketOf(id, quota, nowMs), quota, nowMs));
    if (taken.some(({ allowed }) => !allowed)) this.giveBack(buckets, taken);
    return tighter(buckets, taken);
  }

  /** Returns one token that `count` took, if the request turned out not to count. */
  refund({ id, quota }: Counted): void {
    const bucket = this.recent.get(id);
    if (bucket) bucket.tokens = Math.min(quota.count, bucket.tokens + 1);
  }

  private giveBack(buckets: readonly Counted[], taken: readonly Taken[]): void {
    for (const [i, { id }] of buckets.entries()) {
      const bucket = this.recent.get(id);
      if (bucket && taken[i]?.allowed) bucket.tokens += 1;
    }
  }

  private bucketOf(id: string, quota: Quota, nowMs: number): Bucket {
    const known = this.recent.get(id);
    if (known) return known;
    if (this.recent.size >= this.bucketsMax) {
      this.older = this.recent;
      this.recent = new Map();
    }
    const bucket = this.older.get(id) ?? fullBucket(quota, nowMs);
    this.recent.set(id, bucket);
    return bucket;
  }
}

/** Returns the verdict of the bucket that rejected, or of the one with the fewest tokens left. */
export function tighter(buckets: readonly Counted[], taken: readonly Taken[]): QuotaVerdict {
  let tightest = 0;
  for (let i = 1; i < taken.length; i++) {
    if (isTighter(taken[i] as Taken, taken[tightest] as Taken)) tightest = i;
  }
  return verdict((buckets[tightest] as Counted).quota, taken[tightest] as Taken);
}

/** Builds a verdict in the form that the hot path writes into headers. */
export function verdict(quota: Quota, taken: Taken): QuotaVerdict {
  const { allowed, remaining, resetSeconds, retryAfterSeconds } = taken;
  return { allowed, remaining, resetSeconds, retryAfterSeconds, limit: quota.count };
}

/**
 * Of two rejecting buckets the one with the longer wait is tighter. Of two allowing buckets, the one with fewer tokens.
 */
function isTighter(a: Taken, b: Taken): boolean {
  return a.allowed ? a.remaining < b.remaining : a.retryAfterSeconds > b.retryAfterSeconds;
}
