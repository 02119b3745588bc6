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
