import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { quotaRefusal } from './caller-quotas.js';

/**
 * Guards every handler by the quotas of key and organization. The authentication hook counts the request, sets the
 * headers, and rejects before the body is read, on unknown paths too (ADR 6). The guard uses the hook's verdict, so it
 * never counts a request twice. `@RateLimit` adds a route's own quota.
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
