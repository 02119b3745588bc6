import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventsModule } from '../events/events.module.js';
import { SecretsModule } from '../secrets/secrets.module.js';
import { CodeSecrets } from './code-secrets.js';
import { ConfigurationsStore } from './configurations.store.js';
import { EndpointChanges } from './endpoint-changes.js';
import { EndpointConfigurations } from './endpoint-configurations.js';
import { EndpointDomains } from './endpoint-domains.js';
import { EndpointRecords } from './endpoint-records.js';
import { EndpointRegistration } from './endpoint-registration.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import { EndpointVault } from './endpoint-vault.js';
import { EndpointsController } from './endpoints.controller.js';
import { EndpointsService } from './endpoints.service.js';
import { EndpointsStore } from './endpoints.store.js';
import { EndpointTools } from './endpoints.tools.js';
import { IngestDomainsController } from './ingest-domains.controller.js';
import { IngestDomains } from './ingest-domains.js';
import { OutsideChecks } from './outside-checks.js';
import { PresetsController } from './presets.controller.js';
import { Presets } from './presets.js';

@Module({
  imports: [AuthModule, DestinationsModule, DiscoveryModule, EventsModule, SecretsModule],
  controllers: [EndpointsController, PresetsController, IngestDomainsController],
  providers: [
    CodeSecrets,
    ConfigurationsStore,
    EndpointChanges,
    EndpointDomains,
    EndpointRecords,
    EndpointRegistration,
    EndpointSecrets,
    EndpointVault,
    EndpointsService,
    EndpointsStore,
    EndpointTools,
    IngestDomains,
    OutsideChecks,
    EndpointConfigurations,
    Presets,
  ],
  exports: [EndpointConfigurations, EndpointsStore, OutsideChecks, Presets],
})
export class EndpointsModule {}
