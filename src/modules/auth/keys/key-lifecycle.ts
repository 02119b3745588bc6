import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import { ApiError, conflict, invalid, noSuch } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { grants, type Scope, type Tenant } from '#kernel/tenant.js';
import type { ApiKeyEntity } from '../auth.entities.js';
import { GrantersStore } from './granters.store.js';
import { type IssuedKey, KeyIssuer, type KeyRequest } from './key-issuer.js';
import { type AdminKey, KeysStore } from './keys.store.js';

export interface NewKey {
  name: string;
  scope: Scope;
  environment: 'live' | 'test';
  expiresAt: Date | null;
}

/** Creates, revokes and rotates keys. Every change is published, so that all nodes invalidate their caches. */
@Injectable()
export class KeyLifecycle {
  constructor(
    private readonly issuer: KeyIssuer,
    private readonly keys: KeysStore,
    private readonly granters: GrantersStore,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  /** Creates a key. Throws 403 if a test key requests a live key, and 422 if the expiry is in the past. */
  async create(tenant: Tenant, { environment, ...request }: NewKey): Promise<IssuedKey> {
    if (environment === 'live' && tenant.mode === 'test') {
      throw new ApiError(
        'insufficient_scope',
        'A key of the test environment cannot create a live key. Use a live admin key.',
      );
    }
    // The negated comparison also rejects an invalid date, for which every comparison is false. A leap second such as
    // 23:59:60 is valid in RFC 3339, but an invalid date in JavaScript.
    if (request.expiresAt && !(request.expiresAt > this.clock.now())) {
      throw invalid([{ path: 'expires_at', message: 'must be in the future' }]);
    }
    return this.database.transaction(async () => {
      const environmentId =
        environment === tenant.mode
          ? tenant.environmentId
          : await this.keys.environmentOf(tenant.organizationId, environment);
      const issued = await this.issuer.issue({ ...request, environmentId, mode: environment, source: 'api' });
      await this.announce(issued.row.hash);
      return issued;
    });
  }

  /**
   * Revokes a key and every key granted with it. Throws 404 if the key does not exist or is already revoked. Throws 409
   * if it is the last admin key, or the last admin key that does not expire.
   */
  async revoke(tenant: Tenant, id: Id): Promise<void> {
    await this.database.transaction(async () => {
      await this.keepOneAdmin(tenant, id);
      const hash = await this.keys.revoke(tenant.environmentId, id, this.clock.now());
      if (hash === null) throw noSuch('key');
      await this.announce(hash);
      await this.notifications.announceAll('key', await this.granters.revokeOfKey(tenant.environmentId, id));
    });
  }

  /**
   * Creates a new key with the name, the scope and the expiry of the old one. The old key and the keys granted with it
   * stay valid for `graceMs`. The new key of an OAuth grant keeps the approver and the client, and is revoked with the
   * grant. Throws 404 for a revoked key and 409 for an expired one, because neither may be restored. Throws 409 if the
   * approver was removed or no longer has the scope.
   */
  async rotate(tenant: Tenant, id: Id, graceMs: number): Promise<IssuedKey> {
    return this.database.transaction(async () => {
      // Locks the approver before the key, in the same order as the removal of an approver. The removal therefore
      // completes before this rotation, or revokes the new key as well.
      const known = await this.keys.find(tenant.environmentId, id);
      const granter =
        known && (known.granterMemberId ?? known.granterKeyId) !== null
          ? { memberId: known.granterMemberId, keyId: known.granterKeyId }
          : null;
      const facts = granter && (await this.granters.inForce(tenant.environmentId, granter));
      if (known?.firstKeyId) await this.keys.findForUpdate(tenant.environmentId, known.firstKeyId);
      const old = await this.keys.findForUpdate(tenant.environmentId, id);
      if (old === null || old.revokedAt !== null) throw noSuch('key');
      const nowMs = this.clock.nowMs();
      if (old.expiresAt && old.expiresAt.getTime() <= nowMs) throw conflict('The key has expired. Create a new one.');
      if (granter && (facts === null || !grants(facts.scope, old.scope)))
        throw conflict('The approver of this key no longer has the permission to grant it.');
      const { environmentId, name, scope, expiresAt } = old;
      const issued = await this.issuer.issue({
        environmentId,
        mode: tenant.mode,
        name,
        scope,
        expiresAt,
        ...originOf(old),
      });
      const endsAt = new Date(nowMs + graceMs);
      await this.keys.expire(environmentId, id, endsAt);
      await this.announce(old.hash);
      await this.notifications.announceAll('key', await this.granters.expireOfKey(environmentId, id, endsAt));
      return issued;
    });
  }

  /**
   * Throws 409 for the last admin key, because without it no further key could be created. A test key does not replace
   * a live key, because it cannot create live keys.
   */
  private async keepOneAdmin({ organizationId, environmentId, mode }: Tenant, id: Id): Promise<void> {
    const admins = await this.keys.lockAdmins(organizationId);
    const own = admins.find((key) => key.environment_id === environmentId && key.id === id);
    if (!own) return;
    const others = admins.filter(
      (key) => !endsWith(admins, key, id) && (mode === 'test' || key.environment_id === environmentId),
    );
    if (others.length === 0) {
      throw conflict(
        'This is the last admin key: without it, no one could create another one. Rotate it, or create another admin key first.',
      );
    }
    // Only an admin key without an expiry keeps the organization accessible permanently. A rotated key, for example,
    // expires after its grace period.
    if (own.expires_at === null && others.every((key) => key.expires_at !== null)) {
      throw conflict(
        'This is the last admin key that does not expire: once the others have expired, no one could create another one. Rotate it, or create another admin key without an expiry first.',
      );
    }
  }

  private announce(hash: Buffer): Promise<void> {
    return this.notifications.announce('key', hash.toString('hex'));
  }
}

function originOf({
  id,
  source,
  clientId,
  clientName,
  grantedBy,
  granterMemberId,
  granterKeyId,
  firstKeyId,
}: ApiKeyEntity): Pick<KeyRequest, 'source' | 'granted'> {
  if (source !== 'oauth') return { source: 'api' };
  const granter = { memberId: granterMemberId, keyId: granterKeyId };
  return {
    source,
    granted: {
      clientId: clientId ?? '',
      clientName: clientName ?? '',
      grantedBy: grantedBy ?? '',
      granter,
      firstKeyId: firstKeyId ?? id,
    },
  };
}

/**
 * Returns true if revoking the key `id` also ends `key`: it is that key, or was granted with it, directly or through
 * other keys. Searching the admin keys is enough, because only admin keys grant admin keys.
 */
function endsWith(admins: readonly AdminKey[], key: AdminKey, id: Id): boolean {
  for (let each: AdminKey | undefined = key; each !== undefined;) {
    const granter: Id | null = each.granter_key_id;
    if (each.id === id || granter === id) return true;
    each = granter === null ? undefined : admins.find((other) => other.id === granter);
  }
  return false;
}
