import type { Id } from './ids.js';

/** One environment of one organization. Every stored row belongs to one, and every query is limited to one. */
export interface Tenant {
  environmentId: number;
  organizationId: Id;
  mode: 'live' | 'test';
}

/** Each scope includes the ones before it (specification, Authentication 3). */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Returns whether a key with scope `held` may do something that needs `needed`. */
export function grants(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}

/** Session of a user who signed in on Posthorn's own pages. */
export interface CallerSession {
  id: Id;
  /** Null if a key opened the session. The caller's `keyId` is then that key. */
  memberId: Id | null;
}

/** Permissions of a customer portal session: view, read and rotate secrets, change endpoints, resend. */
export const PORTAL_PERMISSIONS = ['view', 'secrets', 'manage', 'resend'] as const;
export type PortalPermission = (typeof PORTAL_PERMISSIONS)[number];

/**
 * A customer portal session: one application, and the permissions for it. It can only use routes that are marked for
 * portal sessions.
 */
export interface CallerPortal {
  /** `pls_…` without its prefix. */
  id: Id;
  applicationId: Id;
  permissions: readonly PortalPermission[];
}

/** The authenticated caller: the tenant, and the key that was used. */
export interface Caller {
  tenant: Tenant;
  /**
   * Id of the key. For other credentials: `portal:` plus the id of the portal session, `token:` plus the subject of a
   * token that an extension authenticates, or `member:` plus the id of a signed-in member.
   */
  keyId: Id;
  scope: Scope;
  /** Set only if the caller used a session cookie instead of a key. */
  session?: CallerSession;
  /** Set only if the caller used a customer portal token. */
  portal?: CallerPortal;
}
