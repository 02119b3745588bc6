import type { ExecutionContext } from '@nestjs/common';
import { ApiError } from '#kernel/errors.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import type { QuotaVerdict } from './rate-limiter.js';

const LEFT: QuotaVerdict = { allowed: true, limit: 10, remaining: 4, resetSeconds: 6, retryAfterSeconds: 0 };

function requestWith(quotaVerdict: QuotaVerdict | null): ExecutionContext {
  return { switchToHttp: () => ({ getRequest: () => ({ quotaVerdict }) }) } as unknown as ExecutionContext;
}

it.each([
  ['within its quotas', LEFT],
  ['that no quota applies to', null],
])('lets a request %s pass', (_, verdict) => {
  expect(new RateLimitGuard().canActivate(requestWith(verdict))).toBe(true);
});

it('429: rejects a request that the hook has counted beyond a quota', () => {
  const exhausted = { ...LEFT, allowed: false, remaining: 0, retryAfterSeconds: 7 };

  expect(() => new RateLimitGuard().canActivate(requestWith(exhausted))).toThrow(
    new ApiError('rate_limited', 'Too many requests. Try again in 7 s.', {}, 7),
  );
});
