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
