import type { Caller, Scope, Tenant } from './tenant.js';

/** Turns a presented key into who is calling. The auth context provides it, and asks the authenticators of extensions. */
export abstract class Authenticator {
  /** The most characters of a bearer value that is looked at. */
  abstract readonly bearerLengthMax: number;

  /**
   * The caller behind the bearer value, or null when it is unknown, expired or revoked; a promise only where somebody has to be asked.
   * Rejects when storage is away, and with 429 for an address that has guessed at too many keys; `from` is that of the client, null
   * or left out where nobody guesses.
   */
  abstract authenticate(bearer: string, from?: string | null): Caller | null | Promise<Caller | null>;
}

/** Turns the cookie of a session of our own pages into who is calling. The auth context provides it. */
export abstract class SessionAuthenticator {
  /**
   * Who sends this `Cookie` header, in the environment that is asked for where he may act in it, and in the first of his otherwise;
   * null without a session that is in force. Counts as a request of the session. Throws when storage is away, and 429 for an
   * address that has guessed at too many; `from` is that of the client.
   */
  abstract authenticate(
    cookieHeader: string | undefined,
    mode: Tenant['mode'] | null,
    from: string,
  ): Promise<Caller | null>;

  /** Whether the session of a `Cookie` header is still in force, without counting as a request. Throws only when storage is away. */
  abstract isInForce(cookieHeader: string | undefined): Promise<boolean>;
}

/** Turns the token of a customers' portal into who is calling. The portal's context provides it. */
export abstract class PortalAuthenticator {
  /** As `Authenticator.authenticate`, for a bearer value that has the form of such a token. */
  abstract authenticate(token: string, from: string): Promise<Caller | null>;
}

/** Whether a bearer value has the form of the token of a customers' portal. */
export function hasPortalTokenForm(bearer: string): boolean {
  return bearer.startsWith('pt_') && PORTAL_TOKEN.test(bearer);
}

/** 32 bytes in base64url. */
const PORTAL_TOKEN = /^pt_[A-Za-z0-9_-]{43}$/;

/** For whom a token of somebody else's speaks. */
export interface Identity {
  /** `org_…`, as `GET /v1/org` shows it. */
  organization: string;
  mode: 'live' | 'test';
  scope: Scope;
  /** Who is calling, in at most 200 characters: what RATE_LIMIT_KEY counts by, as it does by key. */
  subject: string;
}

/**
 * A sign-in of one's own beside the keys: a company's JWT, for example. Any provider of an extension that extends this is
 * asked about every bearer value that does not begin with `ek_`, on every request: what it looks up elsewhere, it keeps.
 */
export abstract class TokenAuthenticator {
  /**
   * For whom the token speaks, or null when it is none of its own, broken, expired or revoked. Within five seconds; what
   * throws or takes longer is 503 for the caller. An organization or environment that does not exist is 401.
   */
  abstract identify(token: string): Promise<Identity | null>;
}
