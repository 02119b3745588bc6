import { Injectable } from '@nestjs/common';
import type { ResponseSettings } from '#engine/inbound/response.js';
import { sealedIn, Vault } from '#kernel/crypto/vault.js';
import type { ProviderSecret } from './contract.js';
import type { EndpointEntity } from './endpoints.entities.js';

type Place = Pick<EndpointEntity, 'environmentId' | 'id'>;

/**
 * Encrypts and decrypts values of endpoints. A value can be decrypted only in the row and column it was encrypted for.
 */
@Injectable()
export class EndpointVault {
  constructor(private readonly vault: Vault) {}

  sealSecrets(place: Place, secrets: readonly ProviderSecret[]): Buffer | null {
    return secrets.length === 0 ? null : this.vault.seal(JSON.stringify(secrets), sealed(place, 'secrets'));
  }

  openSecrets(row: Place & Pick<EndpointEntity, 'secrets'>): ProviderSecret[] {
    if (row.secrets === null) return [];
    return JSON.parse(this.vault.open(row.secrets, sealed(row, 'secrets')).toString()) as ProviderSecret[];
  }

  sealResponse(place: Place, settings: ResponseSettings | null): Buffer | null {
    return settings && this.vault.seal(JSON.stringify(settings), sealed(place, 'response'));
  }

  openResponse(row: Place & Pick<EndpointEntity, 'response'>): ResponseSettings | null {
    if (row.response === null) return null;
    return JSON.parse(this.vault.open(row.response, sealed(row, 'response')).toString()) as ResponseSettings;
  }
}

function sealed({ environmentId, id }: Place, column: string): string {
  return sealedIn({ table: 'endpoints', environmentId, id, column });
}
