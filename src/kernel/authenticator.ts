import type { Caller, Scope, Tenant } from './tenant.js';

/**
 * Identifies the caller by a bearer token. Implemented in the auth context, which also calls the `TokenAuthenticator`s
 * of extensions.
 */
export abstract class Authenticator {
  /** Maximum length of a bearer token, in characters. */
  abstract readonly bearerLengthMax: number;

  /**
   * Returns the caller for the bearer token, or null if the token is unknown, expired or revoked. Returns a promise
   * only if a lookup is needed.
   *
   * `from` is the client's address, or null if there is no address to limit. Rejects with 429 if this address has tried
   * too many unknown tokens. Also rejects if the storage is unavailable.
   */
  abstract authenticate(bearer: string, from?: string | null): Caller | null | Promise<Caller | null>;
}

/** Identifies the caller by a session cookie of Posthorn's own pages. The auth context implements it. */
export abstract class SessionAuthenticator {
  /**
   * Returns the caller of this `Cookie` header, or null. The caller acts in the environment `mode` if the member has
   * access to it, otherwise in the member's first environment. Records a use of the session, which keeps it active.
   *
   * Throws if the storage is unavailable, and with 429 if the address `from` has tried too many unknown sessions.
   */
  abstract authenticate(
    cookieHeader: string | undefined,
    mode: Tenant['mode'] | null,
    from: string,
  ): Promise<Caller | null>;

  /** Returns whether the session in the `Cookie` header is valid. Throws only if the storage is unavailable. */
  abstract isInForce(cookieHeader: string | undefined): Promise<boolean>;
}

/** Identifies the caller by a customer portal token. Implemented in the portal context. */
export abstract class PortalAuthenticator {
  /**
   * Returns the caller for the portal token, or null if the token is invalid. Rejects with 429 if the client's address
   * `from` has tried too many unknown tokens. Also rejects if the storage is unavailable.
   */
  abstract authenticate(token: string, from: string): Promise<Caller | null>;
}

export function hasPortalTokenForm(bearer: string): boolean {
  return bearer.startsWith('pt_') && PORTAL_TOKEN.test(bearer);
}

/** A portal token: `pt_` and 32 bytes in base64url. */
const PORTAL_TOKEN = /^pt_[A-Za-z0-9_-]{43}$/;

export interface Identity {
  /** Id of the organization, `org_…`, as returned by `GET /v1/org`. */
  organization: string;
  mode: 'live' | 'test';
  scope: Scope;
  /** Unique name of the caller, at most 200 characters. RATE_LIMIT_KEY limits the requests of each subject. */
  subject: string;
}

/**
 * A custom authentication method, for example with a company's own JWTs. Extend this class in a provider of an
 * extension. Posthorn calls `identify` for every request whose bearer token does not begin with `ek_`. Cache remote
 * lookups.
 */
export abstract class TokenAuthenticator {
  /**
   * Returns null if the token does not belong to this method, or is malformed, expired or revoked. The caller receives
   * 503 if `identify` throws or takes more than five seconds, and 401 if the organization or environment does not
   * exist.
   */
  abstract identify(token: string): Promise<Identity | null>;
}
