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

/** Who is calling: the tenant, and the key that proved it. */
export interface Caller {
  tenant: Tenant;
  /** The key; `token:` with the subject of a token that an extension vouches for, `member:` with the id of a member who is signed in. */
  keyId: Id;
  scope: Scope;
  /** Only where the cookie of a session proved it, and no key. */
  session?: CallerSession;
}
