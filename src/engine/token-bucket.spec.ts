import fc from 'fast-check';
import { fullBucket, type Quota, take } from './token-bucket.js';

const T0 = 1_800_000_000_000;
const PER_MINUTE: Quota = { count: 6000, periodMs: 60_000 };
const TEN_A_SECOND: Quota = { count: 10, periodMs: 1000 };
const quotasUpTo = (countMax: number, periodMsMax: number): fc.Arbitrary<Quota> =>
  fc.record({ count: fc.integer({ min: 1, max: countMax }), periodMs: fc.integer({ min: 1, max: periodMsMax }) });
const quotas = quotasUpTo(10_000, 3_600_000);
const smallQuotas = quotasUpTo(20, 5000);

describe('take', () => {
  it('counts down from the full quota and returns when it is full again', () => {
    const bucket = fullBucket(PER_MINUTE, T0);

    expect(take(bucket, PER_MINUTE, T0)).toEqual({
      allowed: true,
      remaining: 5999,
      resetSeconds: 1,
      retryAfterSeconds: 0,
    });
    expect(take(bucket, PER_MINUTE, T0, 2999)).toEqual({
      allowed: true,
      remaining: 3000,
      resetSeconds: 30,
      retryAfterSeconds: 0,
    });
    expect(take(bucket, PER_MINUTE, T0, 3000)).toEqual({
      allowed: true,
      remaining: 0,
      resetSeconds: 60,
      retryAfterSeconds: 0,
    });
    expect(take(bucket, PER_MINUTE, T0)).toEqual({
      allowed: false,
      remaining: 0,
      resetSeconds: 60,
      retryAfterSeconds: 60,
    });
  });

  it('refills one token per share of the period, and not earlier', () => {
    const bucket = fullBucket(TEN_A_SECOND, T0);
    take(bucket, TEN_A_SECOND, T0, 10);

    expect(take(bucket, TEN_A_SECOND, T0 + 99)).toEqual({
      allowed: false,
      remaining: 0,
      resetSeconds: 1,
      retryAfterSeconds: 1,
    });
    expect(take(bucket, TEN_A_SECOND, T0 + 100)).toMatchObject({ allowed: true, remaining: 0 });
    expect(take(bucket, TEN_A_SECOND, T0 + 100)).toMatchObject({ allowed: false });
  });

  it('loses nothing to rounding when called every millisecond', () => {
    const bucket = fullBucket(TEN_A_SECOND, T0);
    take(bucket, TEN_A_SECOND, T0, 10);

    const allowedAt = Array.from({ length: 1000 }, (_, i) => i + 1).filter(
      (ms) => take(bucket, TEN_A_SECOND, T0 + ms).allowed,
    );

    expect(allowedAt).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
  });

  it('returns exact values for remaining and reset when called every millisecond', () => {
    const bucket = fullBucket(PER_MINUTE, T0);
    take(bucket, PER_MINUTE, T0, 6000);

    for (let ms = 1; ms <= 60_000; ms += 1) {
      const { remaining, resetSeconds } = take(bucket, PER_MINUTE, T0 + ms, 0);
      if (remaining !== Math.floor(ms / 10) || resetSeconds !== Math.ceil((60_000 - ms) / 1000)) {
        throw new Error(`${ms} ms: ${remaining} remaining, reset in ${resetSeconds} s`);
      }
    }
  });
});

describe('take at the limits', () => {
  it('takes nothing when it refuses, and never allows more than the quota at once', () => {
    const bucket = fullBucket(TEN_A_SECOND, T0);

    expect(take(bucket, TEN_A_SECOND, T0, 11)).toEqual({
      allowed: false,
      remaining: 10,
      resetSeconds: 0,
      retryAfterSeconds: 1,
    });
    expect(take(bucket, TEN_A_SECOND, T0, 10).allowed).toBe(true);
  });

  it('applies a quota that was lowered in the meantime', () => {
    const bucket = fullBucket(PER_MINUTE, T0);

    expect(take(bucket, TEN_A_SECOND, T0)).toEqual({
      allowed: true,
      remaining: 9,
      resetSeconds: 1,
      retryAfterSeconds: 0,
    });
  });
});

describe('take with a clock that goes back', () => {
  it('refills nothing when two clocks alternate', () => {
    const bucket = fullBucket(TEN_A_SECOND, T0);
    take(bucket, TEN_A_SECOND, T0, 10);

    const allowed = Array.from({ length: 100 }, (_, i) => take(bucket, TEN_A_SECOND, T0 - (i % 2) * 500).allowed);

    expect(allowed).not.toContain(true);
    expect(take(bucket, TEN_A_SECOND, T0 - 500)).toMatchObject({
      allowed: false,
      resetSeconds: 2,
      retryAfterSeconds: 2,
    });
  });

  it('is full after at most two periods on the new clock, however far it went back', () => {
    fc.assert(
      fc.property(quotas, fc.integer({ min: 0, max: 1e11 }), (quota, backMs) => {
        const bucket = fullBucket(quota, T0);
        take(bucket, quota, T0, quota.count);
        take(bucket, quota, T0 - backMs, 0);

        expect(take(bucket, quota, T0 - backMs + 2 * quota.periodMs, quota.count).allowed).toBe(true);
      }),
    );
  });
});

const requests = fc.array(fc.record({ waitMs: fc.nat(2000), n: fc.integer({ min: 1, max: 5 }) }), {
  minLength: 1,
  maxLength: 60,
});

describe('any sequence of requests', () => {
  it('never allows more than count + rate × t in any interval', () => {
    fc.assert(
      fc.property(smallQuotas, requests, (quota, sequence) => {
        const bucket = fullBucket(quota, T0);
        const taken: { atMs: number; n: number }[] = [];
        let nowMs = T0;
        for (const { waitMs, n } of sequence) {
          nowMs += waitMs;
          if (take(bucket, quota, nowMs, n).allowed) taken.push({ atMs: nowMs, n });
        }
        taken.forEach((first, from) => {
          let sum = 0;
          for (const use of taken.slice(from)) {
            sum += use.n;
            expect(sum).toBeLessThanOrEqual(
              quota.count + ((use.atMs - first.atMs) * quota.count) / quota.periodMs + 1e-3,
            );
          }
        });
      }),
    );
  });

  it('never refuses tokens that the quota has: one use per share of the period is always allowed', () => {
    fc.assert(
      fc.property(smallQuotas, fc.nat(200), (quota, uses) => {
        const bucket = fullBucket(quota, T0);
        take(bucket, quota, T0, quota.count);
        for (let i = 1; i <= uses; i += 1) {
          expect(take(bucket, quota, T0 + Math.ceil((i * quota.periodMs) / quota.count)).allowed).toBe(true);
        }
      }),
    );
  });
});

describe('any answer', () => {
  it('keeps 0 ≤ remaining ≤ count and returns a correct reset', () => {
    fc.assert(
      fc.property(quotas, requests, fc.array(fc.integer({ min: -5000, max: 0 })), (quota, sequence, skews) => {
        const bucket = fullBucket(quota, T0);
        let nowMs = T0;
        sequence.forEach(({ waitMs, n }, i) => {
          nowMs += waitMs + (skews[i] ?? 0);
          const taken = take(bucket, quota, nowMs, n);
          expect(taken.remaining >= 0 && taken.remaining <= quota.count && Number.isInteger(taken.remaining)).toBe(
            true,
          );
          expect(Number.isInteger(taken.resetSeconds) && taken.resetSeconds >= 0).toBe(true);
          expect(taken.retryAfterSeconds).toBe(taken.allowed ? 0 : Math.max(1, taken.resetSeconds));
          const atReset = take({ ...bucket }, quota, nowMs + taken.resetSeconds * 1000, 0);
          expect(atReset.remaining).toBe(quota.count);
        });
      }),
    );
  });
});
