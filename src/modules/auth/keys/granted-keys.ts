import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import type { Id } from '#kernel/ids.js';
import { grants } from '#kernel/tenant.js';
import { type GivenBack, type KeyGrant } from '#modules/auth/granted-keys.contract.js';
import { Environments } from '../environments/environments.js';
import { hasApiKeyForm, hashApiKey } from './api-key.js';
import { GrantersStore } from './granters.store.js';
import { KeyIssuer } from './key-issuer.js';
import { KeysStore } from './keys.store.js';

const NAME_LENGTH_MAX = 200;

/** Keys that were granted to OAuth clients: ordinary keys with `source` `oauth`. */
@Injectable()
export class GrantedKeys {
  constructor(
    private readonly environments: Environments,
    private readonly issuer: KeyIssuer,
    private readonly keys: KeysStore,
    private readonly granters: GrantersStore,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  environmentOf(organizationId: Id, mode: 'live' | 'test'): Promise<number> {
    return this.keys.environmentOf(organizationId, mode);
  }

  /** Returns true if the organization has a valid key that one of its members granted to this client. */
  hasKeyOf(organizationId: Id, clientId: string): Promise<boolean> {
    return this.keys.isGrantedTo(organizationId, clientId);
  }

  /**
   * Creates a key, in the caller's transaction if there is one. Returns `null` if the approver was removed or no longer
   * has the scope. The key expires no later than the approver's sign-in key, and is revoked when the approver is
   * removed. The text of the key cannot be read again.
   */
  issue({
    environmentId,
    scope,
    clientId,
    clientName,
    deviceName = null,
    grantedBy,
    granter,
    lifetimeSeconds,
  }: KeyGrant): Promise<{ id: Id; text: string; lifetimeSeconds: number } | null> {
    return this.database.transaction(async () => {
      const { mode } = await this.environments.get(environmentId);
      const isNoted = granter.memberId !== null || granter.keyId !== null;
      const facts = isNoted ? await this.granters.inForce(environmentId, granter) : { scope, expiresAt: null };
      if (facts === null || !grants(facts.scope, scope)) return null;
      const nowMs = this.clock.nowMs();
      const endsMs = Math.min(nowMs + lifetimeSeconds * 1000, facts.expiresAt?.getTime() ?? Infinity);
      const { row, text } = await this.issuer.issue({
        environmentId,
        mode,
        scope,
        source: 'oauth',
        name: (deviceName === null ? clientName : `${clientName} (${deviceName})`).slice(0, NAME_LENGTH_MAX),
        expiresAt: new Date(endsMs),
        granted: { clientId, clientName, grantedBy, granter, firstKeyId: null },
      });
      await this.announce(row.hash);
      return { id: row.id, text, lifetimeSeconds: Math.floor((endsMs - nowMs) / 1000) };
    });
  }

  /** Revokes a granted key and its rotations. Returns false if all of these keys were already revoked. */
  async revoke(environmentId: number, id: Id): Promise<boolean> {
    return this.database.transaction(async () => {
      // Locks the key. A concurrent rotation then fails, or it completes first and the new key is revoked as well.
      await this.keys.findForUpdate(environmentId, id);
      const hashes = await this.granters.revokeOfGrant(environmentId, id);
      await this.notifications.announceAll('key', hashes);
      return hashes.length > 0;
    });
  }

  /**
   * Finds the API key with this text, and revokes all keys of its OAuth grant. If `clientId` is given, only a key of
   * that client is found. Returns `null` if no granted key was found or revoked.
   */
  async revokeText(text: string, clientId: string | null): Promise<GivenBack | null> {
    if (!hasApiKeyForm(text)) return null;
    return this.database.transaction(async () => {
      const found = await this.keys.ofGrant(hashApiKey(text), clientId);
      if (found === null) return null;
      const { firstKeyId, ...key } = found;
      return (await this.revoke(key.environmentId, firstKeyId)) ? key : null;
    });
  }

  private announce(hash: Buffer): Promise<void> {
    return this.notifications.announce('key', hash.toString('hex'));
  }
}
