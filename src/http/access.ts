import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '#kernel/errors.js';
import { grants, type Caller, type Scope as KeyScope, type Tenant } from '#kernel/tenant.js';
import type { Access } from './request.js';
import { withRouteConfig } from './route-config.js';

/** The route needs a key of at least this scope (specification, Authentication 3). */
export const Scope = (scope: KeyScope): MethodDecorator => withRouteConfig({ access: scope });

/** The route answers without a key. `uncounted` takes it out of the rate limits: for probes of the operator only. */
export const Public = (options: { uncounted?: boolean } = {}): MethodDecorator =>
  withRouteConfig({ access: 'public', ...options });

/** The route serves people, who need no key for it: what goes wrong before or in the handler is told as a page. */
export const ServesPage = (): MethodDecorator => withRouteConfig({ access: 'public', page: true });

/** The caller of a scoped route. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => callerOf(context));

/** The tenant of the caller of a scoped route. */
export const CurrentTenant = createParamDecorator((_: unknown, context: ExecutionContext): Tenant => callerOf(context).tenant);

/** 401 without a valid key, 403 for one whose scope is too small, undefined for a caller who may use the route. */
export function refusal(access: Access, caller: Caller | null): ApiError | undefined {
  if (access === 'public') return undefined;
  if (caller === null) return unauthenticated();
  if (grants(caller.scope, access)) return undefined;
  return new ApiError('insufficient_scope', `This needs a key of scope ${access}; this one has scope ${caller.scope}.`, {
    required: access,
    scope: caller.scope,
  });
}

function callerOf(context: ExecutionContext): Caller {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === null) throw unauthenticated();
  return caller;
}

function unauthenticated(): ApiError {
  const message = 'Send a valid API key as `Authorization: Bearer ek_…`. This one is missing, unknown, expired or revoked.';
  return new ApiError('unauthenticated', message);
}
