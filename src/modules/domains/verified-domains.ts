import { Injectable } from '@nestjs/common';
import { returnPathHost } from '#engine/mail/dns-records.js';
import type { Id } from '#kernel/ids.js';
import { type DkimKey, ReceivingDomains, type SendingDomain, SendingDomains } from './contract.js';
import { DkimKeys } from './dkim-keys.js';
import { PlatformZone } from './platform-zone.js';
import { VerifiedDomainsStore } from './verified-domains.store.js';

@Injectable()
export class VerifiedSendingDomains extends SendingDomains {
  constructor(
    private readonly store: VerifiedDomainsStore,
    private readonly zone: PlatformZone,
    private readonly keys: DkimKeys,
  ) {
    super();
  }

  override async find(environmentId: number, host: string): Promise<SendingDomain | null> {
    const row = await this.store.sending(environmentId, host);
    if (row === null) return null;
    const { id, domain, isReturnPathSeen } = row;
    const { domain: platformDomain } = this.zone;
    if (platformDomain === null) return { id, domain, returnPathHost: null };
    return { id, domain, returnPathHost: returnPathHost(isReturnPathSeen ? domain : platformDomain) };
  }

  override signingKey(): Promise<DkimKey> {
    return this.keys.signing();
  }
}

@Injectable()
export class VerifiedReceivingDomains extends ReceivingDomains {
  constructor(private readonly store: VerifiedDomainsStore) {
    super();
  }

  override find(host: string): Promise<{ environmentId: number; domainId: Id } | null> {
    return this.store.receiving(host);
  }

  override ofEnvironment(environmentId: number, domainId: Id): Promise<{ domain: string } | null> {
    return this.store.ofEnvironment(environmentId, domainId);
  }
}
