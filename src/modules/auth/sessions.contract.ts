import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

/** Sign-in method: an API key, a code sent by email, or the identity provider. */
export type SignInWay = 'key' | 'code' | 'oidc';

/** The current user of a session. A changed role or a revoked key takes effect with the next request. */
export interface SignedIn {
  sessionId: Id;
  organizationId: Id;
  organizationName: string;
  organizationSlug: string;
  /** `null` if the session was opened with a key. */
  member: { id: Id; email: string; name: string } | null;
  /** `null` if a member opened the session. */
  key: { id: Id; environmentId: number; name: string } | null;
  /** The member's role or the key's scope, which also limits everything that is created through the session. */
  role: Scope;
  /** Environments in which the session may act: both for a member, only the key's environment for a key. */
  modes: readonly ('live' | 'test')[];
  /** Both environments of the organization, whether or not the session may act in them. */
  environmentIds: Readonly<Record<'live' | 'test', number>>;
  /** Latest end of the session: when the session itself or its key expires. */
  expiresAt: Date;
  how: SignInWay;
  /** Token that every form of the session's pages carries as `csrf_token`. Checked with `holdsCsrfToken`. */
  csrfToken: string;
}

export interface SessionClient {
  ip: string;
  userAgent: string | undefined;
}

export type SessionOwner = { organizationId: Id; how: SignInWay } & (
  { memberId: Id; key: null } | { memberId: null; key: { environmentId: number; id: Id } }
);

/**
 * Sessions of users on Posthorn's own pages. The cookie's SHA-256 is stored. A session ends after 12 hours without a
 * request, and after 7 days at the latest. If the session is revoked, or its member or key is removed, it ends almost
 * immediately on every node, or within five seconds if the notification is lost.
 */
export abstract class Sessions {
  /**
   * Returns the user of the session in this `Cookie` header, or `null` without an active session. Throws if the
   * database is unavailable, and 429 for an address that tried too many unknown cookies. Omit `from` if requests were
   * already counted by address.
   */
  abstract read(cookieHeader: string | undefined, from?: string | null): Promise<SignedIn | null>;

  /** Like `read`, but does not extend the session. For background polling, which must not keep a session alive. */
  abstract peek(cookieHeader: string | undefined): Promise<SignedIn | null>;

  /** Opens a session, ends the one in the `Cookie` header, and returns the value of `Set-Cookie`. */
  abstract begin(owner: SessionOwner, client: SessionClient, cookieHeader: string | undefined): Promise<string>;

  /** Ends the session in the `Cookie` header, if there is one. Returns a `Set-Cookie` value that deletes the cookie. */
  abstract end(cookieHeader: string | undefined): Promise<string>;

  /** Returns true if a form carries the CSRF token of this session. Compares in constant time. */
  abstract holdsCsrfToken(who: SignedIn, given: string | undefined): boolean;
}
