import { Injectable } from '@nestjs/common';
import { returnPathHost } from '#engine/mail/dns-records.js';
import type { Id } from '#kernel/ids.js';
import { type DkimKey, type SendingDomain, type SigningKeys } from './contract.js';
import { DkimKeys } from './dkim-keys.js';
import { DomainKeys } from './domain-keys.js';
import { PlatformZone } from './platform-zone.js';
import { VerifiedDomainsStore } from './verified-domains.store.js';

@Injectable()
export class SendingDomains {
  constructor(
    private readonly store: VerifiedDomainsStore,
    private readonly zone: PlatformZone,
    private readonly keys: DkimKeys,
    private readonly ownKeys: DomainKeys,
  ) {}

  /**
   * Returns the verified domain with exactly this host, never a parent domain. Null if there is no such domain, or if
   * mail must not be sent from it. Throws 503 while storage is unavailable.
   */
  async find(environmentId: number, host: string): Promise<SendingDomain | null> {
    const row = await this.store.sending(environmentId, host);
    if (row === null) return null;
    const { id, domain, isReturnPathSeen, dkimSigner, version, isPaused } = row;
    const { domain: platformDomain } = this.zone;
    return {
      id,
      domain,
      returnPathHost: platformDomain === null ? null : returnPathHost(isReturnPathSeen ? domain : platformDomain),
      keyVersion: dkimSigner === 'domain' ? version : null,
      isPaused,
    };
  }

  /** Returns the keys that sign a domain's mail: its own or the platform's. Throws 503 if storage is unavailable. */
  async signingKeysOf(environmentId: number, { id, keyVersion }: SendingDomain): Promise<SigningKeys> {
    return keyVersion === null ? this.signingKey() : this.ownKeys.signing(environmentId, id, keyVersion);
  }

  /** Returns the platform's current DKIM key. The first call creates the key, which is stored encrypted. */
  signingKey(): Promise<DkimKey> {
    return this.keys.signing();
  }
}

@Injectable()
export class ReceivingDomains {
  constructor(private readonly store: VerifiedDomainsStore) {}

  /** Returns the verified domain of kind `email` with this host, across all environments. */
  find(host: string): Promise<{ environmentId: number; domainId: Id } | null> {
    return this.store.receiving(host);
  }

  /** Returns a domain that can have aliases. Null if the domain does not receive mail. */
  ofEnvironment(environmentId: number, domainId: Id): Promise<{ domain: string } | null> {
    return this.store.ofEnvironment(environmentId, domainId);
  }
}
