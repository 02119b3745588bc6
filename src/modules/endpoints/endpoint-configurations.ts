import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { ConfigurationsStore } from './configurations.store.js';
import { type EndpointAddress, type EndpointConfiguration } from './contract.js';
import { EndpointVault } from './endpoint-vault.js';

/**
 * Reads and changes endpoints. Each change sends the notification `endpoint`, so that callers can clear their caches.
 */
@Injectable()
export class EndpointConfigurations {
  constructor(
    private readonly store: ConfigurationsStore,
    private readonly vault: EndpointVault,
    private readonly database: Database,
  ) {}

  /** Returns the endpoint with the longest path among `paths`. `domainId` is null for the platform's host. */
  at(paths: readonly string[], domainId: Id | null): Promise<EndpointAddress | null> {
    return this.store.at(paths, domainId);
  }

  /** Returns an endpoint of any status. */
  async find(environmentId: number, id: Id): Promise<EndpointConfiguration | null> {
    const [row, routes] = await Promise.all([this.store.find(environmentId, id), this.store.routes(environmentId, id)]);
    return row && { ...row, routes, secrets: this.vault.openSecrets(row), response: this.vault.openResponse(row) };
  }

  /**
   * Sets the secret unless the endpoint already has one. Returns false if the endpoint has a secret or does not exist.
   * Safe to repeat.
   */
  setFirstSecret(environmentId: number, id: Id, secret: string): Promise<boolean> {
    return this.database.transaction(async () => {
      const secrets = this.vault.sealSecrets({ environmentId, id }, [{ secret, untilMs: null }]);
      return secrets !== null && (await this.store.setFirstSecrets(environmentId, id, secrets));
    });
  }
}
