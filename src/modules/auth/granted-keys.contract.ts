import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

/** Who granted: a member, or the key that somebody signed in with; neither for what was granted before that was noted. */
export interface KeyGranter {
  memberId: Id | null;
  keyId: Id | null;
}

/** What a person granted to a client, on a page of ours. */
export interface KeyGrant {
  environmentId: number;
  scope: Scope;
  clientId: string;
  /** As the client calls itself. */
  clientName: string;
  /** The machine that the client says it runs on: part of the name of the key. */
  deviceName?: string | null;
  /** Who approved: a member's address, or the name of the key that he signed in with. */
  grantedBy: string;
  granter: KeyGranter;
  lifetimeSeconds: number;
}

/** A key that its client gave back. */
export interface GivenBack {
  environmentId: number;
  id: Id;
  clientId: string;
  clientName: string;
  grantedBy: string;
}

/** Keys that OAuth clients were granted: ordinary keys, with `source` `oauth`. */
export abstract class GrantedKeys {
  /** The number of the organization's environment. */
  abstract environmentOf(organizationId: Id, mode: 'live' | 'test'): Promise<number>;

  /**
   * Makes a key, in the caller's transaction if there is one; null when who granted it is out meanwhile, or may not do so much himself
   * any more. It ends with him, and no later than the key that he signed in with. The text is known for this one moment.
   */
  abstract issue(grant: KeyGrant): Promise<{ id: Id; text: string; lifetimeSeconds: number } | null>;

  /** Returns true if the organization has a key in force that one of its members granted to this client. */
  abstract hasKeyOf(organizationId: Id, clientId: string): Promise<boolean>;

  /** Revokes a key that was issued here, with what rotations made of it. False when all of it was revoked before. */
  abstract revoke(environmentId: number, id: Id): Promise<boolean>;

  /** Revokes every key of the grant that the key of this text is of, when a client was granted it (this one, when it is said). Null, and nothing happens, otherwise. */
  abstract revokeText(text: string, clientId: string | null): Promise<GivenBack | null>;
}
