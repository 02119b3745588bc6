import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

/** By which way somebody signed in: with an API key, with a code that was mailed, through the identity provider. */
export type SignInWay = 'key' | 'code' | 'oidc';

/** Who is behind a session, as of now: a role that is changed or a key that is revoked counts from the next request on. */
export interface SignedIn {
  sessionId: Id;
  organizationId: Id;
  organizationName: string;
  organizationSlug: string;
  /** Null when a key opened the session. */
  member: { id: Id; email: string; name: string } | null;
  /** The key that opened the session; null for a member's. */
  key: { id: Id; environmentId: number; name: string } | null;
  /** The member's role, or the key's scope: nothing that the session leads to may be able to do more. */
  role: Scope;
  /** The environments that the session may act in: both for a member, its own for a key. */
  modes: readonly ('live' | 'test')[];
  /** Both of the organization, whether the session may act in them or not. */
  environmentIds: Readonly<Record<'live' | 'test', number>>;
  /** When it ends at the latest: the session itself, or the key that opened it. */
  expiresAt: Date;
  how: SignInWay;
  /** Stands in every form of the session's pages (`csrf_token`), and is asked for with `holdsCsrfToken`. */
  csrfToken: string;
}

/** Where a request came from, as a session remembers it. */
export interface SessionClient {
  ip: string;
  userAgent: string | undefined;
}

/** Whose session it is to be. */
export type SessionOwner = { organizationId: Id; how: SignInWay } & (
  { memberId: Id; key: null } | { memberId: null; key: { environmentId: number; id: Id } }
);

/**
 * Sessions of people on the service's own pages: a cookie whose SHA-256 is stored, 12 hours without a request at most and 7
 * days in all. One that was revoked, whose member was removed or whose key was revoked ends within moments on every node, and
 * within five seconds whatever becomes of the announcement.
 */
export abstract class Sessions {
  /**
   * Who sends this `Cookie` header; null without a session that is in force. Throws while storage is away, and 429 for an address
   * that has guessed at too many: `from`, which is left out where requests were counted by address before.
   */
  abstract read(cookieHeader: string | undefined, from?: string | null): Promise<SignedIn | null>;

  /** As `read`, without counting as a request: for what asks by itself, which must keep nobody signed in. */
  abstract peek(cookieHeader: string | undefined): Promise<SignedIn | null>;

  /** Opens a session, ends the one that the `Cookie` header names, and returns the value of `Set-Cookie`. */
  abstract begin(owner: SessionOwner, client: SessionClient, cookieHeader: string | undefined): Promise<string>;

  /** Ends the session that the `Cookie` header names, if there is one, and returns the `Set-Cookie` that takes the cookie away. */
  abstract end(cookieHeader: string | undefined): Promise<string>;

  /** Whether a form carries the token of this very session; compared in constant time. */
  abstract holdsCsrfToken(who: SignedIn, given: string | undefined): boolean;
}
