import type { Redis } from 'ioredis';
import type { Counted } from './rate-limiter.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';

const KEY: Counted = { id: 'key', quota: { count: 10, periodMs: 10_000 } };
const ORG: Counted = { id: 'org', quota: { count: 20, periodMs: 10_000 } };

function limiterOn(answer: () => Promise<unknown>, now = { ms: 0 }): { limiter: RedisRateLimiter; asked: unknown[][] } {
  const asked: unknown[][] = [];
  const redis = {
    options: {},
    defineCommand: () => undefined,
    posthornTake: (...values: unknown[]) => {
      asked.push(values);
      return answer();
    },
  };
  return { limiter: new RedisRateLimiter(redis as unknown as Redis, () => now.ms), asked };
}

it('keeps the buckets of one organization on one node of a cluster', async () => {
  const { limiter, asked } = limiterOn(async () => [1, '9.0', '19.0']);

  await limiter.count('org', [KEY, ORG]);

  expect(asked).toEqual([[2, 'posthorn:rate:{org}:key', 'posthorn:rate:{org}:org', 10, 10_000, 20, 10_000]]);
});

it('returns the headers of the tighter bucket', async () => {
  const { limiter } = limiterOn(async () => [1, '4.5', '19.0']);

  const verdict = await limiter.count('org', [KEY, ORG]);

  expect(verdict).toEqual({ allowed: true, limit: 10, remaining: 4, resetSeconds: 6, retryAfterSeconds: 0 });
});

it('rejects with the bucket that is empty', async () => {
  const { limiter } = limiterOn(async () => [0, '7.0', '0.25']);

  const verdict = await limiter.count('org', [KEY, ORG]);

  expect(verdict).toEqual({ allowed: false, limit: 20, remaining: 0, resetSeconds: 10, retryAfterSeconds: 10 });
});

it('allows requests with a full quota while Redis is away, and retries after a second', async () => {
  const now = { ms: 0 };
  const { limiter, asked } = limiterOn(() => Promise.reject(new Error('Command timed out')), now);
  const full = { allowed: true, limit: 10, remaining: 10, resetSeconds: 0, retryAfterSeconds: 0 };

  expect(await limiter.count('org', [KEY, ORG])).toEqual(full);
  expect(await limiter.count('org', [KEY, ORG])).toEqual(full);
  expect(asked).toHaveLength(1);
  now.ms = 1_001;
  expect(await limiter.count('org', [KEY, ORG])).toEqual(full);
  expect(asked).toHaveLength(2);
});
