import type { ApiError } from '#kernel/errors.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';
import type { Caller, PortalPermission, Scope } from '#kernel/tenant.js';

/** Required access of a route: a key of at least this scope, the operator of the installation, or none. */
export type Access = Scope | 'operator' | 'public';

/**
 * Mechanism that stores a route's first answer: the edge around the handler, or the statement that accepts the data.
 */
export type IdempotencyMode = 'create' | 'accept';

/** `with-change`: one unit of work with the audit entry. `never`: traffic instead of administration. */
export type AuditMode = 'with-change' | 'never';

export interface RouteQuota {
  /** Also used in the rejection. Routes with the same name share a counter. */
  name: string;
  count: number;
  seconds: number;
}

export interface PortalAccess {
  permission: PortalPermission;
  /** Fields of the body that such a token may set. Without it, all. */
  fields?: readonly string[];
}

/** The edge's configuration of a route, written by the decorators of `access.ts` and `idempotent.ts`. */
export interface EdgeRouteConfig {
  access?: Access;
  /** True if a session need not name an environment, because the route is about the session itself. */
  anyEnvironment?: boolean;
  /** For a browser's `EventSource`: it sends no headers, so the cookie and the query's environment are enough. */
  eventSource?: boolean;
  /** Without it, tokens of customer portals are rejected. */
  portal?: PortalAccess;
  /** No rate limit applies: health and metrics. */
  uncounted?: boolean;
  idempotency?: IdempotencyMode;
  oauth?: boolean;
  takesForm?: boolean;
  /** Errors are shown as a page. */
  page?: boolean;
  quota?: RouteQuota;
  /** Set if it differs from the default of the route's method. */
  audit?: AuditMode;
  /** The route returns content that was sent or received. It is never copied into the audit log. */
  holdsContent?: boolean;
  /** Set if it differs from the default. */
  bodyBytesMax?: number;
  /** Validates the body against its class, or throws 422. `compileChecks` sets both checks for whole objects. */
  checkBody?: CheckBody;
  /** Converts and validates the query, or throws 400. */
  checkQuery?: Check;
}

/** Returns the valid value, with converted types if necessary. Throws `ApiError`. */
export type Check = (value: unknown) => unknown;

/** A check of a body. It also gets the text, which shows the original digits of numbers. */
export type CheckBody = (body: unknown, text: string | null) => unknown;

declare module 'fastify' {
  interface FastifyRequest {
    /** The edge's configuration of the route. Fastify's own getter creates a new object on each call. */
    edge: EdgeRouteConfig;
    /** Null without a valid key or session. */
    caller: Caller | null;
    /** Set only on operator routes. */
    isOperator: boolean;
    /** The idempotency key with its scope. Null if none was sent or the route accepts none. */
    idempotency: IdempotentRequest | null;
    /** Schema error of the body. The idempotency interceptor throws it after it has reserved the key. */
    bodyFault: ApiError | null;
    /** The exact bytes of the body, set by the JSON parser. Null without a body. */
    rawBody: Buffer | null;
    bodyText: string | null;
    /** A removed resource that no route shows. The audit entry uses it as the state before the change. */
    removed?: Readonly<Record<string, unknown>>;
  }

  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- merging an interface is how Fastify's types are extended
  interface FastifyContextConfig extends EdgeRouteConfig {}
}
