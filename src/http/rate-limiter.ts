import { type Bucket, fullBucket, type Quota, take, type Taken } from '#engine/token-bucket.js';

export interface Counted {
  id: string;
  quota: Quota;
}

export interface QuotaVerdict extends Taken {
  limit: number;
}

/** Counts requests against token buckets. A rejected request takes no token. */
export abstract class RateLimiter {
  /**
   * Takes one token from every bucket, or none if a bucket is empty. All buckets of a `group` (the organization) are on
   * one node of a Redis cluster. Never throws.
   */
  abstract count(group: string, buckets: readonly Counted[]): QuotaVerdict | Promise<QuotaVerdict>;
}

/** Token buckets in the memory of this process. */
export class MemoryRateLimiter extends RateLimiter {
  private recent = new Map<string, Bucket>();
  private older = new Map<string, Bucket>();

  /** Stores between `bucketsMax` and twice as many buckets. An evicted bucket is treated as full at its next use. */
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

  /** Refunds one token that `count` took, for a request that must not count. */
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

/**
 * Returns the result of a bucket that rejected the request. If no bucket rejected it, returns the result of the bucket
 * with the fewest tokens left.
 */
export function tighter(buckets: readonly Counted[], taken: readonly Taken[]): QuotaVerdict {
  let tightest = 0;
  for (let i = 1; i < taken.length; i++) {
    if (isTighter(taken[i] as Taken, taken[tightest] as Taken)) tightest = i;
  }
  return verdict((buckets[tightest] as Counted).quota, taken[tightest] as Taken);
}

export function verdict(quota: Quota, taken: Taken): QuotaVerdict {
  const { allowed, remaining, resetSeconds, retryAfterSeconds } = taken;
  return { allowed, remaining, resetSeconds, retryAfterSeconds, limit: quota.count };
}

/** Returns whether `a` is tighter than `b`: it has a longer wait, or else fewer remaining tokens. */
function isTighter(a: Taken, b: Taken): boolean {
  return a.allowed ? a.remaining < b.remaining : a.retryAfterSeconds > b.retryAfterSeconds;
}
