import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

/** Approver: a member, or the key used to sign in. Both are null for grants older than this record. */
export interface KeyGranter {
  memberId: Id | null;
  keyId: Id | null;
}

export interface KeyGrant {
  environmentId: number;
  scope: Scope;
  clientId: string;
  /** Name that the client gave itself. */
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

/** Keys that were granted to OAuth clients: ordinary keys with `source` `oauth`. */
export abstract class GrantedKeys {
  abstract environmentOf(organizationId: Id, mode: 'live' | 'test'): Promise<number>;

  /**
   * Creates a key, in the caller's transaction if there is one. Returns `null` if the approver was removed or no longer
   * has the scope. The key is revoked with its approver, and expires no later than the approver's sign-in key. Its text
   * cannot be read again.
   */
  abstract issue(grant: KeyGrant): Promise<{ id: Id; text: string; lifetimeSeconds: number } | null>;

  /** Returns true if the organization has a valid key that one of its members granted to this client. */
  abstract hasKeyOf(organizationId: Id, clientId: string): Promise<boolean>;

  /** Revokes a key issued here and its rotations. Returns false if all of these keys were already revoked. */
  abstract revoke(environmentId: number, id: Id): Promise<boolean>;

  /**
   * Revokes every key of the grant that includes the key with this text. Does nothing and returns `null` if the key has
   * no grant, or if its grant is to a client other than `clientId` (if given).
   */
  abstract revokeText(text: string, clientId: string | null): Promise<GivenBack | null>;
}
