import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { RateLimitInterceptor } from './rate-limit.interceptor.js';
import type { RouteQuota } from './request.js';
import { withRouteConfig } from './route-config.js';

/**
 * Sets a route's own quota per organization, or per client address on a public route. Routes with the same `name` share
 * it.
 */
export function RateLimit(quota: RouteQuota): MethodDecorator {
  return applyDecorators(withRouteConfig({ quota }), UseInterceptors(RateLimitInterceptor));
}
