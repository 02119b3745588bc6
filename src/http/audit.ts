import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { AuditInterceptor } from './audit.interceptor.js';
import type { Access, AuditMode } from './request.js';
import { withRouteConfig } from './route-config.js';
import { handlerOf, type RouteHandler } from './routes.js';

/**
 * Sets the audit mode of a route. Every route that may change data needs it, directly below `@Post`, `@Put`, `@Patch` or
 * `@Delete`: the audit then runs inside the unit of work of `@Idempotent()`.
 */
export function Audit(mode: AuditMode = 'with-change'): MethodDecorator {
  const configured = withRouteConfig({ audit: mode });
  return mode === 'never' ? configured : applyDecorators(configured, UseInterceptors(AuditInterceptor));
}

/** The route returns sent or received content. It is not copied to the audit log, where it could not be erased. */
export const HoldsContent = (): MethodDecorator => withRouteConfig({ holdsContent: true });

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const OPEN: ReadonlySet<Access | undefined> = new Set<Access | undefined>([undefined, 'public']);

/** Throws, which stops the start, if a route may change data without an audit entry. */
export function checkAudit(routes: readonly RouteHandler[]): void {
  const reflector = new Reflector();
  for (const route of routes) {
    const where = `${route.controller.name}.${route.name}`;
    const mode = route.config.audit;
    if (mode === undefined && mayChangeData(route))
      throw new Error(`${where} may change data, so it needs @Audit(), or @Audit('never') for traffic.`);
    if (mode !== 'with-change') continue;
    const interceptors = reflector.get<readonly unknown[]>(INTERCEPTORS_METADATA, handlerOf(route));
    if (interceptors.at(-1) !== AuditInterceptor)
      throw new Error(`${where} needs @Audit() above its other interceptors, so that they run around the audit.`);
  }
}

/**
 * Returns whether a route needs an audit mode. If the ledger commits the effect itself, the route is traffic: its event
 * already records request id and idempotency key, and an entry would cost a second commit per message.
 */
function mayChangeData({ method, config }: RouteHandler): boolean {
  return !READS.has(method) && !OPEN.has(config.access) && config.idempotency !== 'accept';
}
