import { ApiError, type Fault, invalid, noSuch } from '#kernel/errors.js';
import { parseId } from '#kernel/ids.js';
import type { CallerPortal } from '#kernel/tenant.js';
import type { EdgeRouteConfig } from './request.js';

export interface PortalRequest {
  edge?: Pick<EdgeRouteConfig, 'portal'>;
  params?: unknown;
}

/**
 * Returns the error for a portal token that may not use a route: 403 if the token lacks the permission of the route,
 * and 404 if the path names another application. A `uid` in the path also gets 404, because the tenant can assign it to
 * another application.
 */
export function portalRefusal(portal: CallerPortal, { edge, params }: PortalRequest): ApiError | undefined {
  const { portal: taken } = edge ?? {};
  if (taken === undefined)
    return new ApiError('insufficient_scope', 'A portal token works only on the routes of the portal.', {
      required: 'key',
    });
  const { app } = (params ?? {}) as { app?: string };
  if (app !== undefined && parseId('app', app) !== portal.applicationId) return noSuch('application');
  if (portal.permissions.includes(taken.permission)) return undefined;
  return new ApiError('insufficient_scope', `This portal was opened without the permission \`${taken.permission}\`.`, {
    required: taken.permission,
    permissions: portal.permissions,
  });
}

/** Returns a 422 error if the body contains fields that only an API key may set. */
export function portalBodyFault(
  { fields }: NonNullable<EdgeRouteConfig['portal']>,
  body: unknown,
): ApiError | undefined {
  if (fields === undefined || typeof body !== 'object' || body === null) return undefined;
  const faults: Fault[] = Object.keys(body)
    .filter((name) => !fields.includes(name))
    .map((path) => ({ path, message: 'cannot be set in the portal' }));
  return faults.length === 0 ? undefined : invalid(faults);
}
