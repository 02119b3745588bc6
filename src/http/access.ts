import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Caller, type PortalPermission, type Scope as KeyScope, type Tenant } from '#kernel/tenant.js';
import { unauthenticated } from './access-rules.js';
import { withRouteConfig } from './route-config.js';

/** The route needs the installation's OPERATOR_KEY and cannot access any tenant's data. */
export const OperatorOnly = (): MethodDecorator => withRouteConfig({ access: 'operator' });

/** Requires a key of at least this scope (Authentication 3), or below `/v1` a session of a member with that role. */
export const Scope = (scope: KeyScope): MethodDecorator => withRouteConfig({ access: scope });

/** The route needs no key. `uncounted` exempts it from the rate limits, only for the operator's probes. */
export const Public = (options: { uncounted?: boolean } = {}): MethodDecorator =>
  withRouteConfig({ access: 'public', ...options });

/** Serves an HTML page without a key. Errors before or in the handler are shown as a page. */
export const ServesPage = (): MethodDecorator => withRouteConfig({ access: 'public', page: true });

/** For routes about the session itself, where a session need not name an environment. */
export const AnyEnvironment = (): MethodDecorator => withRouteConfig({ anyEnvironment: true });

/**
 * Also accepts a customer portal's token with this permission, for the token's own application (`:app` in the path, as
 * an `app_` id). Other routes reject such tokens. If `fields` is given, a portal token may set no other fields.
 */
export const TakesPortalToken = (
  permission: PortalPermission,
  options: { fields?: readonly string[] } = {},
): MethodDecorator => withRouteConfig({ portal: { permission, ...options } });

/** For read-only routes. An `EventSource` needs just a session cookie, and names the `environment` in the query. */
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
