import { ApiError, type Fault, invalid, notFound } from '#kernel/errors.js';
import { parseId } from '#kernel/ids.js';
import type { CallerPortal } from '#kernel/tenant.js';
import type { EdgeRouteConfig } from './request.js';

/** What is seen of a request by the time that its route is known. */
export interface PortalRequest {
  edge?: Pick<EdgeRouteConfig, 'portal'>;
  params?: unknown;
}

/**
 * Why the token of a customers' portal may not use a route; undefined where it may. Closed unless the route is marked for it: 403. Another
 * application than its own does not exist: 404, also under the name that its owner gave it, which can be given to another one.
 */
export function portalRefusal(portal: CallerPortal, { edge, params }: PortalRequest): ApiError | undefined {
  const { portal: taken } = edge ?? {};
  if (taken === undefined)
    return new ApiError('insufficient_scope', 'The token of a portal is taken by the routes of the portal alone.', {
      required: 'key',
    });
  const { app } = (params ?? {}) as { app?: string };
  if (app !== undefined && parseId('app', app) !== portal.applicationId) return notFound('application');
  if (portal.permissions.includes(taken.permission)) return undefined;
  return new ApiError('insufficient_scope', `This portal was opened without the permission \`${taken.permission}\`.`, {
    required: taken.permission,
    permissions: portal.permissions,
  });
}

/** What of a body only a key may give; undefined when there is nothing of that. 422. */
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
