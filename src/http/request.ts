import type { ApiError } from '#kernel/errors.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';
import type { Caller, PortalPermission, Scope } from '#kernel/tenant.js';

/** Who may call a route: a key of at least this scope, the operator of the installation, or anybody. */
export type Access = Scope | 'operator' | 'public';

/** How a route keeps its first answer: the edge does it around the handler, or the accepting statement does. */
export type IdempotencyMode = 'create' | 'accept';

/**
 * `with-change`: the route is one unit of work with its entry in the audit log. `never`: traffic, not administration.
 */
export type AuditMode = 'with-change' | 'never';

/** How many calls are taken in how much time. */
export interface RouteQuota {
  /** What is counted, as the refusal names it; routes with one name share it. */
  name: string;
  count: number;
  seconds: number;
}

/** How a route takes the token of a customers' portal. */
export interface PortalAccess {
  permission: PortalPermission;
  /** The fields of the body that such a token may give; left out where it may give all. */
  fields?: readonly string[];
}

/** What the edge knows of a route; the decorators of `access.ts` and `idempotent.ts` write it. */
export interface EdgeRouteConfig {
  access?: Access;
  /** True where a session need not say which environment it means: the route is about the session itself. */
  anyEnvironment?: boolean;
  /**
   * True where a browser's `EventSource` reads, which can send no header: the cookie of a session is enough, and the
   * query names the environment.
   */
  eventSource?: boolean;
  /** Set where the token of a customers' portal is taken: left out, the route is closed to it. */
  portal?: PortalAccess;
  /** True where no rate limit counts: health and metrics. */
  uncounted?: boolean;
  idempotency?: IdempotencyMode;
  /** OAuth clients read the answer: what goes wrong has the form of RFC 6749. */
  oauth?: boolean;
  /** A form is what the route takes, instead of JSON. */
  takesForm?: boolean;
  /** People look at the answer: what goes wrong is told as a page. */
  page?: boolean;
  /** The route's own quota, beside those of key and organization. */
  quota?: RouteQuota;
  /** How the route stands in the audit log, where it is not as every other route of its method does. */
  audit?: AuditMode;
  /** What the route shows was sent or received: it is never copied into the audit log. */
  holdsContent?: boolean;
  /** The largest body, where the route takes another one than the rest. */
  bodyBytesMax?: number;
  /** The body in its class, or 422. `compileChecks` sets both for what the handler takes whole. */
  checkBody?: CheckBody;
  /** The query with its types, or 400. */
  checkQuery?: Check;
}

/** Gives back what it was given when that fits, perhaps with better types. Throws `ApiError`. */
export type Check = (value: unknown) => unknown;

/** The same of a body, whose text says what its numbers were. */
export type CheckBody = (body: unknown, text: string | null) => unknown;

declare module 'fastify' {
  interface FastifyRequest {
    /** What the edge knows of the route; Fastify's own getter makes a new object each time. */
    edge: EdgeRouteConfig;
    /** Who is calling; null without a valid key or session. */
    caller: Caller | null;
    /** Whether the operator of the installation calls; known on the operator's own routes alone. */
    isOperator: boolean;
    /** The idempotency key in its scope; null when none was sent or the route takes none. */
    idempotency: IdempotentRequest | null;
    /** Why the body does not fit its schema; the idempotency interceptor throws it once the key is taken. */
    bodyFault: ApiError | null;
    /** The body's very bytes, set by the JSON parser; null without a body. */
    rawBody: Buffer | null;
    /** The same as text. */
    bodyText: string | null;
    /** What a handler removed that no route shows: its entry in the audit log has it as what was there before. */
    removed?: Readonly<Record<string, unknown>>;
  }

  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- merging an interface is how Fastify's types are extended
  interface FastifyContextConfig extends EdgeRouteConfig {}
}
