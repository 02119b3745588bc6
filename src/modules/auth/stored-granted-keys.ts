import { Injectable } from '@nestjs/common';
import { GrantedKeys, type KeyGrant } from '#modules/auth/granted-keys.contract.js';
import { Environments } from '#modules/auth/contract.js';
import { Clock } from '#kernel/clock.js';
import type { Id } from '#kernel/ids.js';
import { Notifications } from '#kernel/notifications.js';
import { hasApiKeyForm, hashApiKey } from './api-key.js';
import { KeyIssuer } from './key-issuer.js';
import { KeysStore } from './keys.store.js';

const NAME_LENGTH_MAX = 200;

/** Granted keys beside all others. */
@Injectable()
export class StoredGrantedKeys extends GrantedKeys {
  constructor(
    private readonly environments: Environments,
    private readonly issuer: KeyIssuer,
    private readonly keys: KeysStore,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {
    super();
  }

  override environmentOf(organizationId: Id, mode: 'live' | 'test'): Promise<number> {
    return this.keys.environmentOf(organizationId, mode);
  }

  override async issue({ environmentId, scope, clientId, clientName, grantedBy, lifetimeSeconds }: KeyGrant): Promise<{ id: Id; text: string }> {
    const { mode } = await this.environments.get(environmentId);
    const { row, text } = await this.issuer.issue({
      environmentId, mode, scope, source: 'oauth', name: clientName.slice(0, NAME_LENGTH_MAX),
      expiresAt: new Date(this.clock.nowMs() + lifetimeSeconds * 1000), granted: { clientId, clientName, grantedBy },
    });
    await this.announce(row.hash);
    return { id: row.id, text };
  }

  override async revoke(environmentId: number, id: Id): Promise<boolean> {
    const hash = await this.keys.revoke(environmentId, id, this.clock.now());
    if (hash !== null) await this.announce(hash);
    return hash !== null;
  }

  override async revokeText(text: string, clientId: string | null): Promise<void> {
    if (!hasApiKeyForm(text)) return;
    const hash = hashApiKey(text);
    if (await this.keys.revokeGranted(hash, clientId, this.clock.now())) await this.announce(hash);
  }

  private announce(hash: Buffer): Promise<void> {
    return this.notifications.announce('key', hash.toString('hex'));
  }
}
