import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
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
import { DestinationUsers } from './destination-users.js';
import { DestinationsController } from './destinations.controller.js';
import { DestinationsService } from './destinations.service.js';
import { DestinationsStore } from './destinations.store.js';
import { DestinationTools } from './destinations.tools.js';
import { HeaderSecrets } from './header-secrets.js';
import { OwnedDestinations } from './owned-destinations.js';
import { Reachability } from './reachability.js';
import { Registration } from './registration.js';
import { RetryPolicies } from './retry-policies.js';
import { RetryRetention } from './retry-retention.js';
import { ServiceDestinations } from './service-destinations.js';
import { Targets } from './targets.js';
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
    DestinationNamesStore,
    DestinationUsers,
    OwnedDestinations,
    ServiceDestinations,
    Targets,
  ],
  exports: [
    CircuitsStore,
    DestinationNamesStore,
    DestinationUsers,
    OwnedDestinations,
    ServiceDestinations,
    Targets,
    Reachability,
  ],
})
export class DestinationsModule {}
