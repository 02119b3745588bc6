import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Caller, type PortalPermission, type Scope as KeyScope, type Tenant } from '#kernel/tenant.js';
import { unauthenticated } from './access-rules.js';
import { withRouteConfig } from './route-config.js';

/** Restricts the route to the installation's OPERATOR_KEY. Such a route has no access to any tenant's data. */
export const OperatorOnly = (): MethodDecorator => withRouteConfig({ access: 'operator' });

/**
 * Requires an API key with at least this scope. Routes below `/v1` also accept a session of a member with that role.
 */
export const Scope = (scope: KeyScope): MethodDecorator => withRouteConfig({ access: scope });

/** Marks a route that needs no key. `uncounted` exempts the route from rate limits, for example for health checks. */
export const Public = (options: { uncounted?: boolean } = {}): MethodDecorator =>
  withRouteConfig({ access: 'public', ...options });

/** Marks a route that serves an HTML page without a key. Its errors are shown as a page, too. */
export const ServesPage = (): MethodDecorator => withRouteConfig({ access: 'public', page: true });

/** Marks a route about the session itself. A session can use the route without naming an environment. */
export const AnyEnvironment = (): MethodDecorator => withRouteConfig({ anyEnvironment: true });

/**
 * Makes a route also accept portal tokens that have this permission. The token must belong to the application `:app` in
 * the path, which must be an `app_` id. Other routes reject portal tokens. If `fields` is given, a portal token may set
 * no other fields.
 */
export const TakesPortalToken = (
  permission: PortalPermission,
  options: { fields?: readonly string[] } = {},
): MethodDecorator => withRouteConfig({ portal: { permission, ...options } });

/** Marks a read-only route for `EventSource`, which sends a session cookie and the `environment` in the query. */
export const TakesEventSource = (): MethodDecorator => withRouteConfig({ eventSource: true });

export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => callerOf(context));

export const CurrentTenant = createParamDecorator(
  (_: unknown, context: ExecutionContext): Tenant => callerOf(context).tenant,
);

function callerOf(context: ExecutionContext): Caller {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === null) throw unauthenticated();
  return caller;
}
