import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Caller, type PortalPermission, type Scope as KeyScope, type Tenant } from '#kernel/tenant.js';
import { unauthenticated } from './access-rules.js';
import { withRouteConfig } from './route-config.js';

/** The route is for the operator: it needs the installation's OPERATOR_KEY and reaches no tenant's data. */
export const OperatorOnly = (): MethodDecorator => withRouteConfig({ access: 'operator' });

/**
 * The route needs a key of at least this scope (specification, Authentication 3). Below `/v1`, a session whose member
 * has that role is accepted too.
 */
export const Scope = (scope: KeyScope): MethodDecorator => withRouteConfig({ access: scope });

/**
 * The route answers without a key. `uncounted` exempts it from the rate limits, which is only for the operator's
 * probes.
 */
export const Public = (options: { uncounted?: boolean } = {}): MethodDecorator =>
  withRouteConfig({ access: 'public', ...options });

/** The route serves an HTML page without a key. Errors before or in the handler are shown as a page. */
export const ServesPage = (): MethodDecorator => withRouteConfig({ access: 'public', page: true });

/** The route is about the session itself, so a session need not name an environment. */
export const AnyEnvironment = (): MethodDecorator => withRouteConfig({ anyEnvironment: true });

/**
 * The route also accepts the token of a customer portal with this permission, for the token's own application (`:app`
 * in the path, as an `app_` id).
 *
 * A route without this decorator rejects such tokens. If `fields` is given, a portal token may set only these fields of
 * the body.
 */
export const TakesPortalToken = (
  permission: PortalPermission,
  options: { fields?: readonly string[] } = {},
): MethodDecorator => withRouteConfig({ portal: { permission, ...options } });

/**
 * The route only reads. A browser's `EventSource` may use it with just a session cookie, and names the environment in
 * the query (`environment`).
 */
export const TakesEventSource = (): MethodDecorator => withRouteConfig({ eventSource: true });

/** Parameter decorator: the caller of a scoped route. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => callerOf(context));

/** Parameter decorator: the tenant of the caller of a scoped route. */
export const CurrentTenant = createParamDecorator(
  (_: unknown, context: ExecutionContext): Tenant => callerOf(context).tenant,
);

function callerOf(context: ExecutionContext): Caller {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === null) throw unauthenticated();
  return caller;
}
