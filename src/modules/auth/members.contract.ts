import type { Id } from '#kernel/ids.js';
import type { Scope } from '#kernel/tenant.js';

export interface Membership {
  organizationId: Id;
  organizationName: string;
  memberId: Id;
  role: Scope;
}

export interface Provisioned extends Membership {
  /** Role before the change. `null` for a new member. */
  roleBefore: Scope | null;
}

export abstract class Memberships {
  /** Returns memberships by organization name; none for an unknown address. `email` must be in lower case. */
  abstract findByEmail(email: string): Promise<Membership[]>;

  /** Memberships that a provider may sign in to: its organization's, or all for the installation's (null). */
  abstract openedBy(organizationSlug: string | null, email: string): Promise<Membership[]>;

  abstract haveSeveralOrganizations(): Promise<boolean>;

  /**
   * Recipients of notices for the whole organization: the admins, and `email` if it is a member. At most `countMax`.
   */
  abstract toBeTold(organizationId: Id, email: string, countMax: number): Promise<string[]>;

  abstract signedIn(organizationId: Id, memberId: Id): Promise<void>;

  /**
   * Creates the member, or gives the existing one the role that the identity provider reports. The last admin keeps
   * their role. An `organizationSlug` of null means the oldest organization. Returns `null` if there is none.
   */
  abstract provision(
    organizationSlug: string | null,
    person: { email: string; name: string; role: Scope },
  ): Promise<Provisioned | null>;
}
