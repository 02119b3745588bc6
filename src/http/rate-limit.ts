import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { ApiError } from '#kernel/errors.js';
import { clientNetwork } from './client-network.js';
import { RateLimiter } from './rate-limiter.js';
import type { RouteQuota } from './request.js';
import { withRouteConfig } from './route-config.js';

/** Counts against quotas other than those of key and organization. */
@Injectable()
export class RouteQuotas {
  constructor(private readonly limiter: RateLimiter) {}

  /** Throws 429, with the headers of the quota on the answer. One customer's tries are not those of all. */
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
 * A quota of the route's own, beside those of key and organization that the gate has counted before the body was read:
 * for what is costly for us, or worth guessing at. An interceptor and not the gate: it costs the routes alone that have
 * one.
 */
@Injectable()
export class RouteQuotaInterceptor implements NestInterceptor {
  constructor(private readonly quotas: RouteQuotas) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { quota } = request.edge;
    if (quota !== undefined) await this.quotas.count(quota, request, http.getResponse<FastifyReply>());
    return next.handle();
  }
}

/**
 * A quota of the route's own: `count` calls in `seconds` of each organization, or of each client address where nobody
 * has to say who he is. Routes with one `name` share it.
 */
export function RateLimit(quota: RouteQuota): MethodDecorator {
  return applyDecorators(withRouteConfig({ quota }), UseInterceptors(RouteQuotaInterceptor));
}
