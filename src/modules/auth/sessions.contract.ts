import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

/** Sign-in method: an API key, a code sent by email, or the identity provider. */
export type SignInWay = 'key' | 'code' | 'oidc';

/** The current user of a session. A changed role or a revoked key takes effect with the session's next request. */
export interface SignedIn {
  sessionId: Id;
  organizationId: Id;
  organizationName: string;
  organizationSlug: string;
  /** `null` if the session was opened with a key. */
  member: { id: Id; email: string; name: string } | null;
  /** `null` if a member opened the session. */
  key: { id: Id; environmentId: number; name: string } | null;
  /** The member's role or the key's scope. Keys created through the session cannot have a higher scope. */
  role: Scope;
  /** Environments in which the session may act: both for a member, only the key's environment for a key. */
  modes: readonly ('live' | 'test')[];
  /** Both environments of the organization, whether or not the session may act in them. */
  environmentIds: Readonly<Record<'live' | 'test', number>>;
  /** Latest time at which the session ends: when the session itself or the key that opened it expires. */
  expiresAt: Date;
  how: SignInWay;
  /** CSRF token. Every form on the session's pages sends the token as `csrf_token`. Checked with `holdsCsrfToken`. */
  csrfToken: string;
}

export interface SessionClient {
  ip: string;
  userAgent: string | undefined;
}

export type SessionOwner = { organizationId: Id; how: SignInWay } & (
  { memberId: Id; key: null } | { memberId: null; key: { environmentId: number; id: Id } }
);
