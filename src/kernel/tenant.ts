import type { Id } from './ids.js';

/**
 * An environment of an organization. Every stored row belongs to one tenant, and every query is limited to the rows of
 * one tenant.
 */
export interface Tenant {
  environmentId: number;
  organizationId: Id;
  mode: 'live' | 'test';
}

/** Scopes of keys and members. Each scope includes the scopes before it. */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Returns true if the scope `held` includes the scope `needed`. */
export function grants(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}

export interface CallerSession {
  id: Id;
  /**
   * Member who opened the session. Null if the session was opened with a key. The id of this key is then the caller's
   * `keyId`.
   */
  memberId: Id | null;
}

/**
 * Permissions of a portal session: to view, to read and rotate secrets, to change endpoints, and to resend messages.
 */
export const PORTAL_PERMISSIONS = ['view', 'secrets', 'manage', 'resend'] as const;
export type PortalPermission = (typeof PORTAL_PERMISSIONS)[number];

/** A portal session: its application and permissions. Set only on routes that accept portal sessions. */
export interface CallerPortal {
  /** Id of the portal session: `pls_…` without its prefix. */
  id: Id;
  applicationId: Id;
  permissions: readonly PortalPermission[];
}

export interface Caller {
  tenant: Tenant;
  /**
   * Id of the key. Without a key: `portal:` plus the session's id, `token:` plus the subject of an extension's token,
   * or `member:` plus the member's id.
   */
  keyId: Id;
  scope: Scope;
  session?: CallerSession;
  portal?: CallerPortal;
}
