/** Quota of `count` tokens per `periodMs`, refilled evenly. Both are above 0. A burst may take all tokens at once. */
export interface Quota {
  count: number;
  periodMs: number;
}

/** State of a token bucket. Unlike other engine values, it is mutated in place by its single owner. */
export interface Bucket {
  /** Tokens left, from 0 to `count`. Fractions are partly refilled tokens. */
  tokens: number;
  /** The latest time that was passed to any call, in milliseconds since the epoch. */
  updatedAtMs: number;
}

export interface Taken {
  allowed: boolean;
  /** Whole tokens left. */
  remaining: number;
  /** Whole seconds until the quota is full again, for `RateLimit-Reset`. */
  resetSeconds: number;
  /** Value for `Retry-After`: 0 if the request is allowed, otherwise at least 1. */
  retryAfterSeconds: number;
}

/** Tolerance in tokens: far below one token, and far above the rounding error of a day of refills. */
const ROUNDING = 1e-6;

export function fullBucket(quota: Quota, nowMs: number): Bucket {
  return { tokens: quota.count, updatedAtMs: nowMs };
}

/**
 * Takes `n` tokens from the bucket, or none if fewer than `n` are left. Mutates `bucket`. A changed quota applies from
 * the next call.
 *
 * A time before `updatedAtMs` refills nothing. Otherwise, two machines with different clocks would refill the same
 * period repeatedly. If the time is more than a period earlier, the clock was set back, and the bucket continues from
 * the earlier time.
 */
export function take(bucket: Bucket, quota: Quota, nowMs: number, n = 1): Taken {
  refill(bucket, quota, nowMs);
  const allowed = bucket.tokens + ROUNDING >= n;
  if (allowed) bucket.tokens = Math.max(0, bucket.tokens - n);
  const missing = quota.count - bucket.tokens;
  const behindMs = bucket.updatedAtMs - nowMs;
  const refillMs = ((missing - ROUNDING / 2) * quota.periodMs) / quota.count;
  const resetSeconds = missing > ROUNDING ? Math.ceil((refillMs + behindMs) / 1000) : 0;
  return {
    allowed,
    remaining: Math.floor(bucket.tokens + ROUNDING),
    resetSeconds,
    retryAfterSeconds: allowed ? 0 : Math.max(1, resetSeconds),
  };
}

function refill(bucket: Bucket, quota: Quota, nowMs: number): void {
  const elapsedMs = nowMs - bucket.updatedAtMs;
  const refilled = bucket.tokens + (Math.max(0, elapsedMs) * quota.count) / quota.periodMs;
  bucket.tokens = Math.min(quota.count, refilled);
  if (elapsedMs > 0 || elapsedMs < -quota.periodMs) bucket.updatedAtMs = nowMs;
}
