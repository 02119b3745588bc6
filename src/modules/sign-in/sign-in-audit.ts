import { Injectable } from '@nestjs/common';
import { type AuditActor, AuditTrail } from '#kernel/audit.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Provisioned } from '#modules/auth/members.contract.js';

export interface SignInClient {
  ip: string;
  userAgent: string | undefined;
  requestId: string;
}

export interface SignInEntry {
  action: 'sign-in.succeeded' | 'sign-in.failed' | 'sign-out';
  organizationId: Id | null;
  actor: AuditActor;
  /** Method and subject of the sign-in. Must never contain an API key or code that the person entered. */
  what: Readonly<Record<string, unknown>>;
  environmentId?: number;
  /** Id of the session, such as `ses_…`. */
  session?: string;
}

/**
 * Writes sign-ins to the audit log. A failed sign-in with a member's address appears in the log of the member's
 * organization.
 */
@Injectable()
export class SignInAudit {
  constructor(private readonly trail: AuditTrail) {}

  async note(
    { action, organizationId, actor, what, environmentId, session }: SignInEntry,
    { ip, userAgent, requestId }: SignInClient,
  ): Promise<void> {
    await this.trail.record({
      organizationId,
      environmentId: environmentId ?? null,
      actor,
      action,
      resourceType: 'sessions',
      resourceId: session ?? null,
      origin: { ip, userAgent, requestId },
      before: null,
      after: what,
    });
  }

  /** Records changes that the identity provider caused to a member at sign-in, in the caller's transaction. */
  async provisioned(
    { organizationId, memberId, role, roleBefore }: Provisioned,
    email: string,
    { ip, userAgent, requestId }: SignInClient,
  ): Promise<void> {
    await this.trail.record({
      organizationId,
      environmentId: null,
      actor: memberActor(memberId),
      action: roleBefore === null ? 'member.provisioned' : 'member.role_followed',
      resourceType: 'members',
      resourceId: showId('mbr', memberId),
      origin: { ip, userAgent, requestId },
      before: roleBefore === null ? null : { role: roleBefore },
      after: roleBefore === null ? { email, role } : { role },
    });
  }
}

export const memberActor = (id: Id): AuditActor => ({ kind: 'member', id: showId('mbr', id) });
export const keyActor = (id: Id): AuditActor => ({ kind: 'key', id: showId('ek', id) });
export const NOBODY: AuditActor = { kind: 'unknown', id: null };
