import type { FastifyRequest } from 'fastify';
import { ApiError, badRequest } from '#kernel/errors.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { unauthenticated } from './access-rules.js';
import type { EdgeRouteConfig } from './request.js';

/**
 * What our own pages send with a session: no page of another origin can, since nothing here answers a preflight with
 * leave to.
 */
export const CONSOLE_HEADER = 'x-posthorn-console';
/** Which environment somebody who is signed in means. */
export const ENVIRONMENT_HEADER = 'x-posthorn-environment';

/** The 401 of somebody whose session has ended; of no session, and of one that never was. */
export const SIGNED_OUT: ApiError = unauthenticated(
  'You are not signed in, or not any more. Sign in again, or send an API key as `Authorization: Bearer ek_…`.',
);

/**
 * Whether a session is taken in the place of a key: on every scoped route below `/v1`. Agents have keys of their own.
 */
export function takesSession({ access }: EdgeRouteConfig, path: string): boolean {
  return (access === 'read' || access === 'write' || access === 'admin') && path.startsWith('/v1/');
}

/**
 * Whether the cookie of a request that has no key may speak for its sender: the route takes a session, the header says
 * that a page of ours sent it, and nothing the browser says of its origin (`Origin`, `Sec-Fetch-Site`) tells otherwise.
 * An `EventSource` sends no header of its own; what it asks for in `Accept` no form, image, frame or link does.
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

/**
 * The environment that a request names: by header, or in the query where an `EventSource` asks; null for none, and for
 * what is none.
 */
export function environmentAsked(request: Pick<FastifyRequest, 'headers' | 'edge' | 'query'>): Tenant['mode'] | null {
  const named = namedEnvironment(request);
  return named === 'live' || named === 'test' ? named : null;
}

/**
 * Why somebody who is signed in may not act in the environment that he asks for, or asks for none; undefined when he
 * may.
 */
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
