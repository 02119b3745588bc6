import { Injectable } from '@nestjs/common';
import { type AuditActor, AuditTrail } from '#kernel/audit.js';
import { type Id, showId } from '#kernel/ids.js';
import type { Provisioned } from '#modules/auth/members.contract.js';

/** Where a try came from. */
export interface SignInClient {
  ip: string;
  userAgent: string | undefined;
  requestId: string;
}

/** Who signed in, out, or failed to. */
export interface SignInEntry {
  action: 'sign-in.succeeded' | 'sign-in.failed' | 'sign-out';
  organizationId: Id | null;
  actor: AuditActor;
  /** By which way, and for whom: never what was typed as a key or a code. */
  what: Readonly<Record<string, unknown>>;
  environmentId?: number;
  /** `ses_…` of the session that ended. */
  session?: string;
}

/** Writes sign-ins into the audit log. One that failed for an address that is a member's is its organization's to see. */
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

  /** What the identity provider's word made of a member, as he came in by it. In the caller's transaction. */
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
