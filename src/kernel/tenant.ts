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

/** Who is calling: the tenant, and the key that proved it. */
export interface Caller {
  tenant: Tenant;
  keyId: Id;
  scope: Scope;
}
