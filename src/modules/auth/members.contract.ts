import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

/** An organization of which an email address is a member. */
export interface Membership {
  organizationId: Id;
  organizationName: string;
  memberId: Id;
  role: Scope;
}

/** The membership that resulted from the data of the identity provider. */
export interface Provisioned extends Membership {
  /** Previous role of the member. `null` for a new member. */
  roleBefore: Scope | null;
}

/** Member lookups for the sign-in. */
export abstract class Memberships {
  /**
   * Returns the memberships of an email address (in lower case), ordered by the name of the organization. The list is
   * empty for an unknown address.
   */
  abstract findByEmail(email: string): Promise<Membership[]>;

  /**
   * Returns the memberships that an identity provider may sign in to: those in its own organization, or all of them for
   * the installation's provider (`organizationSlug` is null).
   */
  abstract openedBy(organizationSlug: string | null, email: string): Promise<Membership[]>;

  /** Returns true if the installation has more than one organization. */
  abstract haveSeveralOrganizations(): Promise<boolean>;

  /**
   * Returns the recipients of notices that concern the whole organization: the email addresses of the admins, and
   * `email` if it is a member. At most `countMax`.
   */
  abstract toBeTold(organizationId: Id, email: string, countMax: number): Promise<string[]>;

  /** Records a sign-in of a member. */
  abstract signedIn(organizationId: Id, memberId: Id): Promise<void>;

  /**
   * Applies the data of the identity provider to one organization: creates the member, or gives the existing member
   * this role. The last admin keeps their role. An `organizationSlug` of null means the oldest organization. Returns
   * `null` if there is no such organization.
   */
  abstract provision(
    organizationSlug: string | null,
    person: { email: string; name: string; role: Scope },
  ): Promise<Provisioned | null>;
}
