import { Injectable } from '@nestjs/common';
import { Database } from '#kernel/database.js';
import { EndpointVault } from './endpoint-vault.js';
import type { LiveEndpoint } from '#modules/receiving/live-endpoint.js';
import { LiveEndpointsStore } from './configurations.store.js';

/** Secrets that arrive in a provider's handshake (Asana). */
@Injectable()
export class HandshakeSecrets {
  constructor(
    private readonly store: LiveEndpointsStore,
    private readonly vault: EndpointVault,
    private readonly database: Database,
  ) {}

  /** Sets the endpoint's secret while it has none, whoever asks at the same time; false when it has one. */
  begin({ environmentId, id }: LiveEndpoint, secret: string): Promise<boolean> {
    return this.database.transaction(async () => {
      const secrets = this.vault.sealSecrets({ environmentId, id }, [{ secret, untilMs: null }]);
      return secrets !== null && (await this.store.setFirstSecrets(environmentId, id, secrets));
    });
  }
}
