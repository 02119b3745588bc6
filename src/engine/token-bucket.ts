/** `count` uses per `periodMs`, refilled evenly; a whole period's worth may be used at once. Both are above 0. */
export interface Quota {
  count: number;
  periodMs: number;
}

/** What is left of a quota at a moment. Unlike the rest of the engine it is changed in place, by its one owner. */
export interface Bucket {
  /** From 0 to `count`; fractions are uses on their way back. */
  tokens: number;
  /** The latest moment that was seen, in milliseconds since the epoch. */
  updatedAtMs: number;
}

/** The answer to one request for tokens. */
export interface Taken {
  allowed: boolean;
  /** Whole uses left now. */
  remaining: number;
  /** Whole seconds until the quota is full again: `RateLimit-Reset`. */
  resetSeconds: number;
  /** 0 when allowed; otherwise at least 1 and no earlier than the reset: `Retry-After`. */
  retryAfterSeconds: number;
}

/** Far below one use, far above what a day of floating-point refills can lose. */
const ROUNDING = 1e-6;

/** A quota of which nothing has been used. */
export function fullBucket(quota: Quota, nowMs: number): Bucket {
  return { tokens: quota.count, updatedAtMs: nowMs };
}

/**
 * Takes `n` tokens, or none when there are fewer. Changes `bucket`.
 *
 * A quota that was changed since is obeyed from here on. A clock that goes back refills nothing, as two machines'
 * clocks would otherwise refill in turn; only a step of more than a period is taken for a correction of the clock, so
 * that the bucket is never shut for longer than that.
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
