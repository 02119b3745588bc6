import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CustomHosts } from './contract.js';
import { CustomHostsStore } from './custom-hosts.store.js';
import { DkimKeys } from './dkim-keys.js';
import { DkimKeysStore } from './dkim-keys.store.js';
import { DnsListener } from './dns-listener.js';
import { DomainChanges } from './domain-changes.js';
import { DomainChecks } from './domain-checks.js';
import { DomainRecords } from './domain-records.js';
import { DomainRegistration } from './domain-registration.js';
import { DomainsController } from './domains.controller.js';
import { DomainsMetrics } from './domains.metrics.js';
import { DomainsService } from './domains.service.js';
import { DomainsStore } from './domains.store.js';
import { LiveHosts } from './live-hosts.js';
import { MxGate } from './mx-gate.js';
import { PlatformZone } from './platform-zone.js';
import { RecheckLoop } from './recheck-loop.js';
import { ReceivingDomains, SendingDomains } from './verified-domains.js';
import { VerifiedDomainsStore } from './verified-domains.store.js';

/** Global, because every kind of target must recognize Posthorn's hosts. It depends on no other module. */
@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [DomainsController],
  providers: [
    CustomHostsStore,
    DkimKeys,
    DkimKeysStore,
    DnsListener,
    DomainChanges,
    DomainChecks,
    DomainRecords,
    DomainRegistration,
    DomainsMetrics,
    DomainsService,
    DomainsStore,
    LiveHosts,
    MxGate,
    PlatformZone,
    RecheckLoop,
    VerifiedDomainsStore,
    { provide: CustomHosts, useExisting: LiveHosts },
    SendingDomains,
    ReceivingDomains,
  ],
  exports: [CustomHosts, ReceivingDomains, SendingDomains],
})
export class DomainsModule {}
