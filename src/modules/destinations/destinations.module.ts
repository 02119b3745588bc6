import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import {
  Circuits,
  DestinationNames,
  OwnedDestinations,
  ServiceDestinations,
  Targets,
  UrlChecks,
} from '#modules/destinations/contract.js';
import { AuthModule } from '../auth/auth.module.js';
import { SecretsModule } from '../secrets/secrets.module.js';
import { AdHocTargets } from './ad-hoc-targets.js';
import { AdapterRegistry } from './adapter-registry.js';
import { Changes } from './changes.js';
import { CircuitsStore } from './circuits.store.js';
import { DestinationChecksController } from './destination-checks.controller.js';
import { DestinationNamesStore } from './destination-names.store.js';
import { DestinationSecrets } from './destination-secrets.js';
import { DestinationTargets } from './destination-targets.js';
import { DestinationUsers } from './destination-users.contract.js';
import { AttachedDestinationUsers } from './destination-users.js';
import { DestinationsController } from './destinations.controller.js';
import { DestinationsService } from './destinations.service.js';
import { DestinationsStore } from './destinations.store.js';
import { DestinationTools } from './destinations.tools.js';
import { HeaderSecrets } from './header-secrets.js';
import { StoredOwnedDestinations } from './owned-destinations.js';
import { Reachability } from './reachability.js';
import { Registration } from './registration.js';
import { RetryPolicies } from './retry-policies.js';
import { RetryRetention } from './retry-retention.js';
import { StoredServiceDestinations } from './service-destinations.js';
import { CachedTargets } from './targets.js';
import { Validator } from './validator.js';

@Module({
  imports: [AuthModule, DiscoveryModule, SecretsModule],
  // The checks come first, so that `/check` is not taken for the id of a destination.
  controllers: [DestinationChecksController, DestinationsController],
  providers: [
    AdapterRegistry,
    AdHocTargets,
    Changes,
    CircuitsStore,
    DestinationSecrets,
    DestinationTargets,
    DestinationTools,
    DestinationsService,
    DestinationsStore,
    HeaderSecrets,
    Reachability,
    Registration,
    RetryPolicies,
    RetryRetention,
    Validator,
    { provide: Circuits, useExisting: CircuitsStore },
    { provide: DestinationNames, useClass: DestinationNamesStore },
    { provide: DestinationUsers, useClass: AttachedDestinationUsers },
    { provide: OwnedDestinations, useClass: StoredOwnedDestinations },
    { provide: ServiceDestinations, useClass: StoredServiceDestinations },
    { provide: Targets, useClass: CachedTargets },
    { provide: UrlChecks, useExisting: Reachability },
  ],
  exports: [Circuits, DestinationNames, DestinationUsers, OwnedDestinations, ServiceDestinations, Targets, UrlChecks],
})
export class DestinationsModule {}
