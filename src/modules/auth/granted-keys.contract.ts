import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

/**
 * Approver of an OAuth grant: a member, or the API key with which the approver signed in. Both fields are null for old
 * grants, which were stored without an approver.
 */
export interface KeyGranter {
  memberId: Id | null;
  keyId: Id | null;
}

export interface KeyGrant {
  environmentId: number;
  scope: Scope;
  clientId: string;
  /** Name that the OAuth client gave itself. */
  clientName: string;
  /** Machine that the client claims to run on. Becomes part of the key's name. */
  deviceName?: string | null;
  /** Approver: a member's email address, or the name of the key that was used to sign in. */
  grantedBy: string;
  granter: KeyGranter;
  lifetimeSeconds: number;
}

export interface GivenBack {
  environmentId: number;
  id: Id;
  clientId: string;
  clientName: string;
  grantedBy: string;
}
