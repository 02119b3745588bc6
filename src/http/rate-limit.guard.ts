import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { quotaRefusal } from './caller-quotas.js';

/**
 * Applies the quotas of the API key and the organization to every handler. `@RateLimit` adds a route's own quota.
 *
 * The authentication hook counts each request, sets the headers, and rejects before the body is read, even on unknown
 * paths (ADR 6). The guard uses the result of the hook, and counts nothing itself.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { quotaVerdict } = context.switchToHttp().getRequest<FastifyRequest>();
    const refusal = quotaVerdict === null ? undefined : quotaRefusal(quotaVerdict);
    if (refusal !== undefined) throw refusal;
    return true;
  }
}
