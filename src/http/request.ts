import type { ApiError } from '#kernel/errors.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';
import type { Caller, PortalPermission, Scope } from '#kernel/tenant.js';
import type { QuotaVerdict } from './rate-limiter.js';

/** Required access of a route: a key of at least this scope, the operator of the installation, or none. */
export type Access = Scope | 'operator' | 'public';

/**
 * Component that stores a route's first response: the edge around the handler, or the statement that stores the data.
 */
export type IdempotencyMode = 'create' | 'accept';

/** `with-change`: the audit entry commits with the change. `never`: traffic, which is not audited. */
export type AuditMode = 'with-change' | 'never';

export interface RouteQuota {
  /** Name of the counter, also shown in the rejection. Routes with the same name share a counter. */
  name: string;
  count: number;
  seconds: number;
}

export interface PortalAccess {
  permission: PortalPermission;
  /** Fields of the body that a portal token may set. All fields if omitted. */
  fields?: readonly string[];
}

/** The edge's configuration of a route, written by the decorators of `access.ts` and `idempotent.ts`. */
export interface EdgeRouteConfig {
  access?: Access;
  /** True if a session need not name an environment, because the route is about the session itself. */
  anyEnvironment?: boolean;
  /** For a browser's `EventSource`: it sends no headers, so the cookie and the query's environment are enough. */
  eventSource?: boolean;
  /** Access for customer portal tokens. If omitted, the route rejects them. */
  portal?: PortalAccess;
  /** Exempts the route from rate limits, for health and metrics. */
  uncounted?: boolean;
  idempotency?: IdempotencyMode;
  oauth?: boolean;
  takesForm?: boolean;
  /** The route serves a page. Errors are shown as a page too. */
  page?: boolean;
  quota?: RouteQuota;
  /** Audit mode, if it differs from the default of the route's method. */
  audit?: AuditMode;
  /** The route returns content that was sent or received. It is never copied into the audit log. */
  holdsContent?: boolean;
  /** Maximum size of the body, if it differs from the default. */
  bodyBytesMax?: number;
  /** Validates the body against its class, or throws 422. `compileChecks` sets this check and `checkQuery`. */
  checkBody?: CheckBody;
  /** Converts and validates the query, or throws 400. */
  checkQuery?: Check;
}

/** Returns the valid value, with converted types if necessary. Throws `ApiError`. */
export type Check = (value: unknown) => unknown;

/** Checks a body. Also receives the text, which shows the original digits of numbers. */
export type CheckBody = (body: unknown, text: string | null) => unknown;

declare module 'fastify' {
  interface FastifyRequest {
    /** The edge's configuration of the route. Fastify's own getter creates a new object on each call. */
    edge: EdgeRouteConfig;
    /** The authenticated caller. Null without a valid key or session. */
    caller: Caller | null;
    /** Result of counting the request against its quotas. Null if no quota applies. */
    quotaVerdict: QuotaVerdict | null;
    /** True only on operator routes. */
    isOperator: boolean;
    /** The idempotency key with its scope. Null if none was sent or the route accepts none. */
    idempotency: IdempotentRequest | null;
    /** Schema error of the body. The idempotency interceptor throws it after it has reserved the key. */
    bodyFault: ApiError | null;
    /** The exact bytes of the body, set by the JSON parser. Null without a body. */
    rawBody: Buffer | null;
    bodyText: string | null;
    /** A removed resource that no route shows. The audit entry uses it as the state before the removal. */
    removed?: Readonly<Record<string, unknown>>;
  }

  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- merging an interface is how Fastify's types are extended
  interface FastifyContextConfig extends EdgeRouteConfig {}
}
