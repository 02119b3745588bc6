import { Injectable } from '@nestjs/common';
import { returnPathHost } from '#engine/mail/dns-records.js';
import type { Id } from '#kernel/ids.js';
import { type DkimKey, type SendingDomain } from './contract.js';
import { DkimKeys } from './dkim-keys.js';
import { PlatformZone } from './platform-zone.js';
import { VerifiedDomainsStore } from './verified-domains.store.js';

@Injectable()
export class SendingDomains {
  constructor(
    private readonly store: VerifiedDomainsStore,
    private readonly zone: PlatformZone,
    private readonly keys: DkimKeys,
  ) {}

  /**
   * Returns the verified domain with exactly this host, never a parent domain. Null if there is no such domain, or if
   * it must not send mail. Throws 503 while storage is unavailable.
   */
  async find(environmentId: number, host: string): Promise<SendingDomain | null> {
    const row = await this.store.sending(environmentId, host);
    if (row === null) return null;
    const { id, domain, isReturnPathSeen } = row;
    const { domain: platformDomain } = this.zone;
    if (platformDomain === null) return { id, domain, returnPathHost: null };
    return { id, domain, returnPathHost: returnPathHost(isReturnPathSeen ? domain : platformDomain) };
  }

  /** Returns the current key. The first call creates the key, which is stored encrypted. */
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

  /** Returns null if the domain does not receive mail, because aliases cannot be created on it then. */
  ofEnvironment(environmentId: number, domainId: Id): Promise<{ domain: string } | null> {
    return this.store.ofEnvironment(environmentId, domainId);
  }
}
