import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

/** One organization that an address is a member of. */
export interface Membership {
  organizationId: Id;
  organizationName: string;
  memberId: Id;
  role: Scope;
}

/** The membership that the identity provider's word came to. */
export interface Provisioned extends Membership {
  /** The role that the member had before; null for one who is new. */
  roleBefore: Scope | null;
}

/** Members as the sign-in asks for them. */
export abstract class Memberships {
  /** Where an address (in lower case) is a member, by the organization's name; an empty list for a stranger. */
  abstract findByEmail(email: string): Promise<Membership[]>;

  /** Returns the memberships that an identity provider may open: those in its own organization, or all for the installation's (`organizationSlug` null). */
  abstract openedBy(organizationSlug: string | null, email: string): Promise<Membership[]>;

  /** Returns true if the installation has more than one organization. */
  abstract haveSeveralOrganizations(): Promise<boolean>;

  /** The addresses of the admins, and of the member of this address if he is one: who is told of what touches all. At most `countMax`. */
  abstract toBeTold(organizationId: Id, email: string, countMax: number): Promise<string[]>;

  /** Notes that a member has signed in. */
  abstract signedIn(organizationId: Id, memberId: Id): Promise<void>;

  /**
   * What the identity provider says of a person, for one organization: makes a member, or gives the one that there is this role.
   * The last admin keeps his. `organizationSlug` null is the oldest organization. Null when there is no such organization.
   */
  abstract provision(
    organizationSlug: string | null,
    person: { email: string; name: string; role: Scope },
  ): Promise<Provisioned | null>;
}
