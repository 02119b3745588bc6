import { type Counted, MemoryRateLimiter } from './rate-limiter.js';

const KEY: Counted = { id: 'key', quota: { count: 3, periodMs: 3_000 } };
const ORG: Counted = { id: 'org', quota: { count: 4, periodMs: 4_000 } };
const OTHER_KEY: Counted = { id: 'other', quota: KEY.quota };

function limiterAt(now: { ms: number }, bucketsMax?: number): MemoryRateLimiter {
  return new MemoryRateLimiter(() => now.ms, bucketsMax);
}

it('returns the tighter bucket', () => {
  const limiter = limiterAt({ ms: 0 });

  expect(limiter.count('org', [KEY, ORG])).toMatchObject({ allowed: true, limit: 3, remaining: 2, resetSeconds: 1 });
  limiter.count('org', [KEY, ORG]);
  expect(limiter.count('org', [OTHER_KEY, ORG])).toMatchObject({ allowed: true, limit: 4, remaining: 1 });
});

it('rejects while a bucket is empty, and allows again as it refills', () => {
  const now = { ms: 0 };
  const limiter = limiterAt(now);
  for (let i = 0; i < 3; i++) expect(limiter.count('org', [KEY]).allowed).toBe(true);

  const refused = { allowed: false, limit: 3, remaining: 0, resetSeconds: 3, retryAfterSeconds: 3 };
  expect(limiter.count('org', [KEY])).toMatchObject(refused);
  now.ms = 1_000;
  expect(limiter.count('org', [KEY]).allowed).toBe(true);
});

it('takes nothing from the organization for a request that its key rejects, and vice versa', () => {
  const limiter = limiterAt({ ms: 0 });
  for (let i = 0; i < 10; i++) limiter.count('org', [KEY, ORG]);

  expect(limiter.count('org', [OTHER_KEY, ORG])).toMatchObject({ allowed: true, limit: 4, remaining: 0 });
  expect(limiter.count('org', [OTHER_KEY, ORG])).toMatchObject({ allowed: false, limit: 4 });
  expect(limiter.count('org', [OTHER_KEY])).toMatchObject({ allowed: true, remaining: 1 });
});

it('evicts unused buckets, never those in use', () => {
  const limiter = limiterAt({ ms: 0 }, 10);
  for (let i = 0; i < 3; i++) limiter.count('org', [KEY]);

  for (let i = 0; i < 100; i++) {
    limiter.count('x', [{ id: `address ${i}`, quota: KEY.quota }]);
    expect(limiter.count('org', [KEY]).allowed).toBe(false);
  }
  const held = limiter as unknown as { recent: Map<string, unknown>; older: Map<string, unknown> };
  expect(held.recent.size + held.older.size).toBeLessThanOrEqual(20);
});
