import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { AuditInterceptor } from './audit.interceptor.js';
import { auditModeOf } from './audited-routes.js';
import type { AuditMode } from './request.js';
import { withRouteConfig } from './route-config.js';
import { handlerOf, type RouteHandler } from './routes.js';

/**
 * Sets the audit mode of a route. Write it directly below `@Post`, `@Put`, `@Patch` or `@Delete`, so that the audit
 * runs inside the transaction of `@Idempotent()`. Without `@Audit()`, every route that may change data is audited.
 */
export function Audit(mode: AuditMode = 'with-change'): MethodDecorator {
  const configured = withRouteConfig({ audit: mode });
  return mode === 'never' ? configured : applyDecorators(configured, UseInterceptors(AuditInterceptor));
}

/**
 * Marks a route that returns message content. The audit log omits the content, because it could not be erased there.
 */
export const HoldsContent = (): MethodDecorator => withRouteConfig({ holdsContent: true });

/**
 * Attaches the audit interceptor to routes without `@Audit()` that may change data, for example routes of an extension.
 * Throws, and so prevents the start, if `@Audit()` is not the innermost interceptor of a route. Call it before routes
 * are created.
 */
export function auditRoutes(routes: readonly RouteHandler[], interceptor: AuditInterceptor): void {
  const reflector = new Reflector();
  for (const route of routes) {
    if (auditModeOf(route) === 'never') continue;
    const { controller, name, config } = route;
    const handler = handlerOf(route);
    if (config.audit === undefined) {
      UseInterceptors(interceptor)(controller.prototype as object, name, { value: handler });
      continue;
    }
    const interceptors = reflector.get<readonly unknown[]>(INTERCEPTORS_METADATA, handler);
    if (interceptors.at(-1) !== AuditInterceptor)
      throw new Error(
        `${controller.name}.${name} needs @Audit() above its other interceptors, so that they run around the audit.`,
      );
  }
}
