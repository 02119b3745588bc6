import type { Id } from './ids.js';

/** One environment of one organization: what every stored row belongs to and every query is bound to. */
export interface Tenant {
  environmentId: number;
  organizationId: Id;
  mode: 'live' | 'test';
}

/** Each scope includes the ones before it (specification, Authentication 3). */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** True when a key of scope `held` may do what needs `needed`. */
export function grants(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}

/** The session of somebody who signed in on the service's own pages. */
export interface CallerSession {
  id: Id;
  /** Null when a key opened it: then that is the caller's `keyId`. */
  memberId: Id | null;
}

/** What the session of a customers' portal may do, beyond seeing: read and rotate secrets, change endpoints, send again. */
export const PORTAL_PERMISSIONS = ['view', 'secrets', 'manage', 'resend'] as const;
export type PortalPermission = (typeof PORTAL_PERMISSIONS)[number];

/** The session of a customers' portal: one application, and what may be done there. Every route that is not marked for it is closed. */
export interface CallerPortal {
  /** `pls_…` without its prefix. */
  id: Id;
  applicationId: Id;
  permissions: readonly PortalPermission[];
}

/** Who is calling: the tenant, and the key that proved it. */
export interface Caller {
  tenant: Tenant;
  /** The key; `portal:` with the id of the session of a portal, `token:` with the subject of a token that an extension vouches for, `member:` with the id of a member who is signed in. */
  keyId: Id;
  scope: Scope;
  /** Only where the cookie of a session proved it, and no key. */
  session?: CallerSession;
  /** Only where the token of a customers' portal proved it. */
  portal?: CallerPortal;
}
