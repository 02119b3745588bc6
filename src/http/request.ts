import type { ApiError } from '#kernel/errors.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';
import type { Caller, PortalPermission, Scope } from '#kernel/tenant.js';
import type { QuotaVerdict } from './rate-limiter.js';

/** Required access of a route: a key of at least this scope, the operator of the installation, or none. */
export type Access = Scope | 'operator' | 'public';

/**
 * Component that stores the first response for an idempotency key. `create`: the interceptor around the handler.
 * `accept`: the statement that stores the data.
 */
export type IdempotencyMode = 'create' | 'accept';

/** `with-change`: the audit entry commits with the change. `never`: the route is not audited. */
export type AuditMode = 'with-change' | 'never';

export interface RouteQuota {
  /**
   * Name of the request counter, shown in the error of a rejected request. Routes with the same name share the counter.
   */
  name: string;
  count: number;
  seconds: number;
}

export interface PortalAccess {
  permission: PortalPermission;
  /** Fields of the body that a portal token may set. All fields if omitted. */
  fields?: readonly string[];
}

/** Configuration of a route in the HTTP edge, written by decorators such as those of `access.ts`. */
export interface EdgeRouteConfig {
  access?: Access;
  /** True if a session need not name an environment, because the route is about the session itself. */
  anyEnvironment?: boolean;
  /** True if a browser's `EventSource` may use the route. It cannot send headers, only a cookie and a query. */
  eventSource?: boolean;
  /** Access for customer portal tokens. If omitted, the route rejects them. */
  portal?: PortalAccess;
  /** Exempts the route from rate limits, for health checks and metrics. */
  uncounted?: boolean;
  idempotency?: IdempotencyMode;
  /** True if the idempotency key may be any printable text, instead of a UUID only. */
  takesAnyKey?: boolean;
  /** True if error responses also have the top-level fields that the `resend` package reads. */
  resendErrors?: boolean;
  oauth?: boolean;
  takesForm?: boolean;
  /** True if a route for forms also accepts `multipart/form-data`. */
  takesMultipart?: boolean;
  /** True if the route serves a page. Errors are shown as a page too. */
  page?: boolean;
  quota?: RouteQuota;
  /** Audit mode, if it differs from the default for the route's method. */
  audit?: AuditMode;
  /** True if the route returns message content, which is never copied into the audit log. */
  holdsContent?: boolean;
  /** Maximum size of the body, if it differs from the default. */
  bodyBytesMax?: number;
  /** Validates the body against its class, or throws 422. `compileChecks` sets this check and `checkQuery`. */
  checkBody?: CheckBody;
  /** Converts and validates the query, or throws 400. */
  checkQuery?: Check;
  /**
   * Runs class-validator after `checkQuery` and `checkBody`. Set only for classes with decorators that no JSON Schema
   * can express.
   */
  runDecorators?: RunDecorators;
}

/** Returns the value if it is valid, converted to the types of the schema if necessary. Otherwise throws `ApiError`. */
export type Check = (value: unknown) => unknown;

/** Checks a body. `text` is the body as received, with the original digits of numbers. */
export type CheckBody = (body: unknown, text: string | null) => unknown;

/** Rejects with `ApiError` for invalid values, or with the error of an extension's decorator. */
export type RunDecorators = (body: unknown, query: unknown) => Promise<void>;

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The configuration of the route. Stored in this field, because Fastify's getter for it creates an object on each
     * call.
     */
    edge: EdgeRouteConfig;
    /** The authenticated caller. Null without a valid key or session. */
    caller: Caller | null;
    /** Result of counting the request against its quotas. Null if no quota applies. */
    quotaVerdict: QuotaVerdict | null;
    /** Whether the caller is the operator. Set only on operator routes. */
    isOperator: boolean;
    /** The idempotency key with its scope. Null if none was sent or the route accepts none. */
    idempotency: IdempotentRequest | null;
    /** Error of the body's schema check. The idempotency interceptor throws it after it has reserved the key. */
    bodyFault: ApiError | null;
    /** The exact bytes of the body, set by the JSON parser. Null without a body. */
    rawBody: Buffer | null;
    bodyText: string | null;
    /** State before the change, for the audit entry. Set by the handler if no route returns the resource. */
    removed?: Readonly<Record<string, unknown>>;
  }

  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- merging an interface is how Fastify's types are extended
  interface FastifyContextConfig extends EdgeRouteConfig {}
}
