import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { ApiError } from '#kernel/errors.js';
import { clientNetwork } from './client-network.js';
import { RateLimiter } from './rate-limiter.js';
import type { RouteQuota } from './request.js';

@Injectable()
export class RouteQuotas {
  constructor(private readonly limiter: RateLimiter) {}

  /** Counts a request per organization, portal session or client address. Throws 429 with the quota's headers. */
  async count(
    { name, count, seconds }: RouteQuota,
    { caller, ip }: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const whose = caller?.portal === undefined ? (caller?.tenant.organizationId ?? clientNetwork(ip)) : caller.keyId;
    const id = `route:${name}:${whose}`;
    const verdict = await this.limiter.count(whose, [{ id, quota: { count, periodMs: seconds * 1000 } }]);
    if (verdict.allowed) return;
    reply.headers({
      'ratelimit-limit': verdict.limit,
      'ratelimit-remaining': verdict.remaining,
      'ratelimit-reset': verdict.resetSeconds,
    });
    const { retryAfterSeconds } = verdict;
    throw new ApiError(
      'rate_limited',
      `Too many requests of this kind. Try again in ${retryAfterSeconds} s.`,
      { quota: name },
      retryAfterSeconds,
    );
  }
}

/**
 * Applies a route's own quota, in addition to the quotas that `RateLimitGuard` applies. An interceptor, so that routes
 * without their own quota have no overhead.
 */
@Injectable()
export class RateLimitInterceptor implements NestInterceptor {
  constructor(private readonly quotas: RouteQuotas) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { quota } = request.edge;
    if (quota !== undefined) await this.quotas.count(quota, request, http.getResponse<FastifyReply>());
    return next.handle();
  }
}
