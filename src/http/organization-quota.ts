import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { ApiError } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { RateLimiter } from './rate-limiter.js';

/** Counts in-process calls against the organization's quota. HTTP requests count against the same quota. */
@Injectable()
export class OrganizationQuota {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly config: Config,
  ) {}

  /** Counts one call. Throws 429 with the time after which the call can be repeated. */
  async count(organizationId: Id): Promise<void> {
    const { rateLimitOrg: quota } = this.config;
    if (quota === null) return;
    const { allowed, retryAfterSeconds } = await this.limiter.count(organizationId, [{ id: organizationId, quota }]);
    if (allowed) return;
    throw new ApiError(
      'rate_limited',
      `The organization sent too many requests. Try again in ${retryAfterSeconds} s.`,
      {},
      retryAfterSeconds,
    );
  }
}
