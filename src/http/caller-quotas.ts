import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Config } from '#kernel/config/config.js';
import { ApiError } from '#kernel/errors.js';
import { clientNetwork } from './client-network.js';
import { type Counted, type QuotaVerdict, RateLimiter } from './rate-limiter.js';

/**
 * Counts requests against the quotas of the API key and the organization. Without a valid key, counts them by client
 * address.
 */
@Injectable()
export class CallerQuotas {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly config: Config,
  ) {}

  /**
   * Counts a request against its quotas. Returns null if no quota applies. An invalid key counts like a missing key.
   */
  count({ caller, ip }: Pick<FastifyRequest, 'caller' | 'ip'>): QuotaVerdict | Promise<QuotaVerdict> | null {
    const { rateLimitKey, rateLimitOrg, rateLimitPortal } = this.config;
    const addressQuota = rateLimitKey ?? rateLimitOrg;
    if (addressQuota === null) return null;
    if (!caller) {
      const network = clientNetwork(ip);
      return this.limiter.count(network, [{ id: network, quota: addressQuota }]);
    }
    const { organizationId } = caller.tenant;
    const buckets: Counted[] = [];
    const ownQuota = caller.portal === undefined ? rateLimitKey : rateLimitPortal;
    if (ownQuota) buckets.push({ id: caller.keyId, quota: ownQuota });
    if (rateLimitOrg) buckets.push({ id: organizationId, quota: rateLimitOrg });
    return this.limiter.count(organizationId, buckets);
  }
}

/** Sets the quota headers, and stores the result for `RateLimitGuard`. Returns an error if a quota is exhausted. */
export function applyQuotas(
  request: FastifyRequest,
  reply: FastifyReply,
  verdict: QuotaVerdict | null,
): ApiError | undefined {
  request.quotaVerdict = verdict;
  if (verdict === null) return undefined;
  reply.header('ratelimit-limit', verdict.limit);
  reply.header('ratelimit-remaining', verdict.remaining);
  reply.header('ratelimit-reset', verdict.resetSeconds);
  return quotaRefusal(verdict);
}

export function quotaRefusal({ allowed, retryAfterSeconds }: QuotaVerdict): ApiError | undefined {
  return allowed
    ? undefined
    : new ApiError('rate_limited', `Too many requests. Try again in ${retryAfterSeconds} s.`, {}, retryAfterSeconds);
}
