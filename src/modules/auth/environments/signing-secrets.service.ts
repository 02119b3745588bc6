import { Injectable } from '@nestjs/common';
import { formatSecret } from '#engine/signing.js';
import { Clock } from '#kernel/clock.js';
import { Vault } from '#kernel/crypto/vault.js';
import { Database } from '#kernel/database/database.js';
import { Notifications } from '#kernel/database/notifications.js';
import type { Tenant } from '#kernel/tenant.js';
import { OrganizationsStore } from '../organizations/own-organization.store.js';
import { currentKey, rotatedSigningSecret } from './signing-secret.js';

@Injectable()
export class SigningSecretsService {
  constructor(
    private readonly store: OrganizationsStore,
    private readonly vault: Vault,
    private readonly database: Database,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  /** Returns the secret that signs deliveries to ad-hoc URLs. */
  async show({ environmentId }: Tenant): Promise<string> {
    const row = await this.store.findEnvironment(environmentId);
    if (row === null) throw new Error(`Environment ${environmentId} of a key does not exist.`);
    return formatSecret(currentKey(this.vault, row));
  }

  /** Generates a new signing secret. The previous one also signs for another `graceMs`. Older secrets stop signing. */
  async rotate({ environmentId }: Tenant, graceMs: number): Promise<string> {
    return this.database.transaction(async () => {
      const row = await this.store.findEnvironmentForUpdate(environmentId);
      const columns = rotatedSigningSecret(this.vault, row, new Date(this.clock.nowMs() + graceMs));
      await this.store.updateEnvironment(row.id, columns);
      await this.notifications.announce('environment', String(environmentId));
      return formatSecret(currentKey(this.vault, { ...row, ...columns }));
    });
  }
}
