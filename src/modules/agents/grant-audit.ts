import { Injectable } from '@nestjs/common';
import { type AuditActor, type AuditOrigin, AuditTrail } from '#kernel/audit.js';
import { type Id, showId } from '#kernel/ids.js';
import { Environments } from '#modules/auth/contract.js';

/** Who approved, and from where. */
export interface Approval {
  organizationId: Id;
  actor: AuditActor;
  origin: AuditOrigin;
}

/** Writes what people granted into the audit log. */
@Injectable()
export class GrantAudit {
  constructor(
    private readonly trail: AuditTrail,
    private readonly environments: Environments,
  ) {}

  /** In the caller's transaction: no grant without its entry. */
  async granted(
    { organizationId, actor, origin }: Approval,
    environmentId: number,
    what: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const { client_id: client } = what;
    await this.trail.record({
      organizationId,
      environmentId,
      actor,
      action: 'oauth.granted',
      resourceType: 'clients',
      resourceId: String(client),
      origin,
      before: null,
      after: what,
    });
  }

  /** A client gave its key back. In the transaction of the revocation. */
  async givenBack(
    environmentId: number,
    keyId: Id,
    what: Readonly<Record<string, unknown>>,
    origin: AuditOrigin,
  ): Promise<void> {
    await this.revoked('oauth.revoked', environmentId, keyId, what, origin);
  }

  /** A code came a second time, and the key that came of it was revoked: somebody has what was another's. In the transaction of the revocation. */
  async reused(
    environmentId: number,
    keyId: Id,
    what: Readonly<Record<string, unknown>>,
    origin: AuditOrigin,
  ): Promise<void> {
    await this.revoked('oauth.code_reused', environmentId, keyId, what, origin);
  }

  private async revoked(
    action: string,
    environmentId: number,
    keyId: Id,
    what: Readonly<Record<string, unknown>>,
    origin: AuditOrigin,
  ): Promise<void> {
    const { organizationId } = await this.environments.get(environmentId);
    await this.trail.record({
      organizationId,
      environmentId,
      actor: { kind: 'unknown', id: null },
      action,
      resourceType: 'keys',
      resourceId: showId('ek', keyId),
      origin,
      before: what,
      after: null,
    });
  }
}
