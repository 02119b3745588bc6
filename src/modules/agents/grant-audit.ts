import { Injectable } from '@nestjs/common';
import { type AuditActor, type AuditOrigin, AuditTrail } from '#kernel/audit.js';
import { type Id, showId } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';

export interface Approval {
  organizationId: Id;
  actor: AuditActor;
  origin: AuditOrigin;
}

@Injectable()
export class GrantAudit {
  constructor(
    private readonly trail: AuditTrail,
    private readonly environments: Environments,
  ) {}

  /** Records a grant in the caller's transaction, so that no grant exists without its audit entry. */
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

  /** Records that a client revoked its API key. Runs in the transaction of the revocation. */
  async givenBack(
    environmentId: number,
    keyId: Id,
    what: Readonly<Record<string, unknown>>,
    origin: AuditOrigin,
  ): Promise<void> {
    await this.revoked('oauth.revoked', environmentId, keyId, what, origin);
  }

  /**
   * Records that an authorization code was used a second time. The code may have been stolen, so the API key that was
   * issued for it was revoked. Runs in the transaction of the revocation.
   */
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
