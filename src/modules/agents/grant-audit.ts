import { Injectable } from '@nestjs/common';
import { type AuditActor, type AuditOrigin, AuditTrail } from '#kernel/audit.js';
import type { Id } from '#kernel/ids.js';

/** Who approved, and from where. */
export interface Approval {
  organizationId: Id;
  actor: AuditActor;
  origin: AuditOrigin;
}

/** Writes what people granted into the audit log. */
@Injectable()
export class GrantAudit {
  constructor(private readonly trail: AuditTrail) {}

  /** In the caller's transaction: no grant without its entry. */
  async granted({ organizationId, actor, origin }: Approval, environmentId: number, what: Readonly<Record<string, unknown>>): Promise<void> {
    const { client_id: client } = what;
    await this.trail.record({
      organizationId, environmentId, actor, action: 'oauth.granted', resourceType: 'clients', resourceId: String(client), origin, before: null, after: what,
    });
  }
}
