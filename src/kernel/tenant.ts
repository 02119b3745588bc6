import type { Id } from './ids.js';

/** Every stored row belongs to one tenant, and every query is limited to one. */
export interface Tenant {
  environmentId: number;
  organizationId: Id;
  mode: 'live' | 'test';
}

/** Each scope includes the ones before it (specification, Authentication 3). */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Returns true if the scope `held` includes the scope `needed`. */
export function grants(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}

export interface CallerSession {
  id: Id;
  /** Null if a key opened the session. The caller's `keyId` is then that key. */
  memberId: Id | null;
}

/** View, read and rotate secrets, change endpoints, resend. */
export const PORTAL_PERMISSIONS = ['view', 'secrets', 'manage', 'resend'] as const;
export type PortalPermission = (typeof PORTAL_PERMISSIONS)[number];

/** A portal session: its application and permissions. Set only on routes that accept portal sessions. */
export interface CallerPortal {
  /** `pls_…` without its prefix. */
  id: Id;
  applicationId: Id;
  permissions: readonly PortalPermission[];
}

export interface Caller {
  tenant: Tenant;
  /**
   * Id of the key. Otherwise `portal:` plus the session's id, `token:` plus the subject of an extension's token, or
   * `member:` plus the member's id.
   */
  keyId: Id;
  scope: Scope;
  session?: CallerSession;
  portal?: CallerPortal;
}
