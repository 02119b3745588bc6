import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Caller, type PortalPermission, type Scope as KeyScope, type Tenant } from '#kernel/tenant.js';
import { unauthenticated } from './access-rules.js';
import { withRouteConfig } from './route-config.js';

/** The route is the operator's: it needs the OPERATOR_KEY of the installation, and reaches no tenant's data. */
export const OperatorOnly = (): MethodDecorator => withRouteConfig({ access: 'operator' });

/** The route needs a key of at least this scope (specification, Authentication 3); below `/v1` a session of that role will do as well. */
export const Scope = (scope: KeyScope): MethodDecorator => withRouteConfig({ access: scope });

/** The route answers without a key. `uncounted` takes it out of the rate limits: for probes of the operator only. */
export const Public = (options: { uncounted?: boolean } = {}): MethodDecorator =>
  withRouteConfig({ access: 'public', ...options });

/** The route serves people, who need no key for it: what goes wrong before or in the handler is told as a page. */
export const ServesPage = (): MethodDecorator => withRouteConfig({ access: 'public', page: true });

/** The route is about the session itself, so that a session need not say which of its environments it means. */
export const AnyEnvironment = (): MethodDecorator => withRouteConfig({ anyEnvironment: true });

/**
 * The route also answers the token of a customers' portal, for its own application (`:app` of the path, by its `app_` id) and with this
 * permission. A route without it answers none. Of the body it takes only `fields`, where they are named.
 */
export const TakesPortalToken = (
  permission: PortalPermission,
  options: { fields?: readonly string[] } = {},
): MethodDecorator => withRouteConfig({ portal: { permission, ...options } });

/** The route only reads, and a browser's `EventSource` is let in with the cookie of a session alone; the query has `environment`. */
export const TakesEventSource = (): MethodDecorator => withRouteConfig({ eventSource: true });

/** The caller of a scoped route. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => callerOf(context));

/** The tenant of the caller of a scoped route. */
export const CurrentTenant = createParamDecorator(
  (_: unknown, context: ExecutionContext): Tenant => callerOf(context).tenant,
);

function callerOf(context: ExecutionContext): Caller {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === null) throw unauthenticated();
  return caller;
}
