import { Module } from '@nestjs/common';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventTypesModule } from '../event-types/event-types.module.js';
import { EventsModule } from '../events/events.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { ApplicationAttemptsController } from './application-attempts.controller.js';
import { ApplicationEndpointChanges } from './application-endpoint-changes.js';
import { ApplicationEndpointRegistration, EndpointPlaces } from './application-endpoint-registration.js';
import { ApplicationEndpointsController } from './application-endpoints.controller.js';
import { ApplicationEndpointsService } from './application-endpoints.service.js';
import { ApplicationEndpointsStore } from './application-endpoints.store.js';
import { ApplicationReference } from './application-reference.js';
import { ApplicationRemoval } from './application-removal.js';
import { ApplicationsController } from './applications.controller.js';
import { Applications } from './applications.js';
import { ApplicationList, ApplicationsService } from './applications.service.js';
import { ApplicationsStore } from './applications.store.js';
import { ApplicationTools } from './applications.tools.js';
import { EndpointConditions } from './endpoint-conditions.js';
import { EndpointSecretsController } from './endpoint-secrets.controller.js';
import { LiveApplications } from './live-applications.js';
import { LiveApplicationsStore } from './live-applications.store.js';
import { PortalEndpoints } from './portal-endpoints.js';
import { SubscribersController } from './subscribers.controller.js';
import { Subscribers } from './subscribers.js';
import { WaitingDeliveries } from './waiting-deliveries.js';

/** Applications (the caller's customers), their endpoints, and the subscriptions of the endpoints. */
@Module({
  imports: [DestinationsModule, EventTypesModule, EventsModule, LedgerModule],
  controllers: [
    ApplicationsController,
    ApplicationEndpointsController,
    EndpointSecretsController,
    ApplicationAttemptsController,
    SubscribersController,
  ],
  providers: [
    ApplicationEndpointChanges,
    ApplicationEndpointRegistration,
    ApplicationEndpointsService,
    ApplicationEndpointsStore,
    ApplicationList,
    ApplicationReference,
    ApplicationRemoval,
    ApplicationsService,
    ApplicationsStore,
    ApplicationTools,
    EndpointPlaces,
    LiveApplications,
    LiveApplicationsStore,
    PortalEndpoints,
    Subscribers,
    WaitingDeliveries,
    Applications,
    EndpointConditions,
  ],
  exports: [ApplicationRemoval, Applications, EndpointConditions],
})
export class ApplicationsModule {}
