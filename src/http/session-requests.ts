import type { FastifyRequest } from 'fastify';
import { ApiError, badRequest } from '#kernel/errors.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { unauthenticated } from './access-rules.js';
import type { EdgeRouteConfig } from './request.js';

/**
 * Header that only Posthorn's own pages send. Other origins cannot send it, because Posthorn approves no CORS preflight
 * for it.
 */
export const CONSOLE_HEADER = 'x-posthorn-console';
export const ENVIRONMENT_HEADER = 'x-posthorn-environment';

/** The error for an expired, unknown or missing session. */
export const SIGNED_OUT: ApiError = unauthenticated(
  'You are not signed in, or not any more. Sign in again, or send an API key as `Authorization: Bearer ek_…`.',
);

/** Returns whether a route accepts a session instead of an API key: every route below `/v1` that needs a scope. */
export function takesSession({ access }: EdgeRouteConfig, path: string): boolean {
  return (access === 'read' || access === 'write' || access === 'admin') && path.startsWith('/v1/');
}

/**
 * Returns whether the session cookie may authenticate a request without an API key.
 *
 * The route must accept a session. The header `CONSOLE_HEADER` must show that a page of Posthorn sent the request.
 * `Origin` and `Sec-Fetch-Site`, if present, must match. An `EventSource` cannot send custom headers, so its `Accept`
 * value is checked instead of `CONSOLE_HEADER`. No form, image, frame or link sends that value.
 */
export function maySpeakForSession(
  request: Pick<FastifyRequest, 'headers' | 'edge' | 'routeOptions'>,
  baseUrl: string,
): boolean {
  const { headers, edge } = request;
  if (headers.cookie === undefined || !takesSession(edge, request.routeOptions.url ?? '')) return false;
  if (headers[CONSOLE_HEADER] !== '1' && !(edge.eventSource === true && headers.accept === 'text/event-stream'))
    return false;
  const { origin, 'sec-fetch-site': site } = headers;
  return (site === undefined || site === 'same-origin') && (origin === undefined || origin === new URL(baseUrl).origin);
}

/** Returns the environment that the header or, for an `EventSource`, the query requests. Null if unknown or missing. */
export function environmentAsked(request: Pick<FastifyRequest, 'headers' | 'edge' | 'query'>): Tenant['mode'] | null {
  const named = namedEnvironment(request);
  return named === 'live' || named === 'test' ? named : null;
}

/** Returns an error if a session request has no environment, or one that the session may not use. */
export function environmentFault(
  request: Pick<FastifyRequest, 'headers' | 'edge' | 'query'>,
  asked: Tenant['mode'] | null,
  { tenant }: Caller,
): ApiError | undefined {
  const isNamed = namedEnvironment(request) !== undefined;
  if (asked === null)
    return isNamed || request.edge.anyEnvironment !== true
      ? badRequest(`Say which environment is meant: X-Posthorn-Environment: live, or test.`)
      : undefined;
  if (asked === tenant.mode) return undefined;
  return new ApiError(
    'insufficient_scope',
    `This session was opened with a key of the ${tenant.mode} environment, and may act in no other.`,
    { environment: tenant.mode },
  );
}

function namedEnvironment({ headers, edge, query }: Pick<FastifyRequest, 'headers' | 'edge' | 'query'>): unknown {
  return (
    headers[ENVIRONMENT_HEADER] ??
    (edge.eventSource === true ? (query as Record<string, unknown> | null)?.['environment'] : undefined)
  );
}
