import { type Bucket, fullBucket, type Quota, take, type Taken } from '#engine/token-bucket.js';

/** One bucket that a request counts against. */
export interface Counted {
  id: string;
  quota: Quota;
}

/** What the `RateLimit-*` headers say: the tighter one of the buckets. */
export interface QuotaVerdict extends Taken {
  limit: number;
}

/** Counts requests. A refused request costs nothing. */
export abstract class RateLimiter {
  /**
   * Takes one from every bucket, or from none when one of them is empty. `group` names what the buckets have in
   * common (the organization), so that a cluster keeps them on one node. Never throws.
   */
  abstract count(group: string, buckets: readonly Counted[]): QuotaVerdict | Promise<QuotaVerdict>;
}

/** Buckets of this process. */
export class MemoryRateLimiter extends RateLimiter {
  private recent = new Map<string, Bucket>();
  private older = new Map<string, Bucket>();

  /**
   * Remembers between `bucketsMax` and twice as many buckets; the longest unused ones are forgotten, which fills them.
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

  /** Gives one back that `count` took: what it was for turned out not to count. */
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

/** The verdict of the bucket that refused, or of the one with the least left. */
export function tighter(buckets: readonly Counted[], taken: readonly Taken[]): QuotaVerdict {
  let tightest = 0;
  for (let i = 1; i < taken.length; i++) {
    if (isTighter(taken[i] as Taken, taken[tightest] as Taken)) tightest = i;
  }
  return verdict((buckets[tightest] as Counted).quota, taken[tightest] as Taken);
}

/** A verdict in the shape that the hot path writes into headers. */
export function verdict(quota: Quota, taken: Taken): QuotaVerdict {
  const { allowed, remaining, resetSeconds, retryAfterSeconds } = taken;
  return { allowed, remaining, resetSeconds, retryAfterSeconds, limit: quota.count };
}

/** A refusing bucket has nothing left and a time to wait, an allowing one nothing to wait for. */
function isTighter(a: Taken, b: Taken): boolean {
  return a.allowed ? a.remaining < b.remaining : a.retryAfterSeconds > b.retryAfterSeconds;
}
