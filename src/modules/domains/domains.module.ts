import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CustomHosts } from './contract.js';
import { CustomHostsStore } from './custom-hosts.store.js';
import { DkimKeys } from './dkim-keys.js';
import { DkimKeysStore } from './dkim-keys.store.js';
import { DnsListener } from './dns-listener.js';
import { DomainChanges } from './domain-changes.js';
import { DomainChecks } from './domain-checks.js';
import { DomainDkim } from './domain-dkim.js';
import { DomainKeys } from './domain-keys.js';
import { DomainKeysStore } from './domain-keys.store.js';
import { DomainMailCounts } from './domain-mail-counts.js';
import { DomainMailCountsStore } from './domain-mail-counts.store.js';
import { DomainRecords } from './domain-records.js';
import { DomainRegistration } from './domain-registration.js';
import { DomainReputationController } from './domain-reputation.controller.js';
import { DomainReputations } from './domain-reputations.js';
import { DomainsController } from './domains.controller.js';
import { DomainsMetrics } from './domains.metrics.js';
import { DomainsService } from './domains.service.js';
import { DomainsStore } from './domains.store.js';
import { LiveHosts } from './live-hosts.js';
import { MxGate } from './mx-gate.js';
import { PausedDomains } from './paused-domains.js';
import { PlatformZone } from './platform-zone.js';
import { RecheckLoop } from './recheck-loop.js';
import { ReceivingDomains, SendingDomains } from './verified-domains.js';
import { VerifiedDomainsStore } from './verified-domains.store.js';

/** Global, because the modules of all target types must recognize Posthorn's own hosts. Depends on no other module. */
@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [DomainsController, DomainReputationController],
  providers: [
    CustomHostsStore,
    DkimKeys,
    DkimKeysStore,
    DnsListener,
    DomainChanges,
    DomainChecks,
    DomainDkim,
    DomainKeys,
    DomainKeysStore,
    DomainMailCounts,
    DomainMailCountsStore,
    DomainRecords,
    DomainRegistration,
    DomainReputations,
    DomainsMetrics,
    DomainsService,
    DomainsStore,
    LiveHosts,
    MxGate,
    PausedDomains,
    PlatformZone,
    RecheckLoop,
    VerifiedDomainsStore,
    { provide: CustomHosts, useExisting: LiveHosts },
    SendingDomains,
    ReceivingDomains,
  ],
  exports: [CustomHosts, DomainMailCounts, PausedDomains, ReceivingDomains, SendingDomains],
})
export class DomainsModule {}
