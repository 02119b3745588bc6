import { Module } from '@nestjs/common';
import { ApplicationsModule } from '../applications/applications.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventsModule } from '../events/events.module.js';
import { NamesModule } from '../names/names.module.js';
import { ReceivingModule } from '../receiving/receiving.module.js';
import { EndpointStatsController } from './endpoint-stats.controller.js';
import { EndpointStatistics } from './endpoint-stats.js';
import { FailingApplicationsController } from './failing-applications.controller.js';
import { FailingApplications } from './failing-applications.js';
import { FailingApplicationsStore } from './failing-applications.store.js';
import { Folding } from './folding.js';
import { MetricTools } from './metrics.tools.js';
import { OverviewController } from './overview.controller.js';
import { Overviews } from './overview.js';
import { OverviewStore } from './overview.store.js';
import { RollupsController } from './rollups.controller.js';
import { RollupsService } from './rollups.service.js';
import { RollupsStore } from './rollups.store.js';

/** Metrics of events and deliveries: the job that adds up counts in rollups, and the API that reads the rollups. */
@Module({
  imports: [ApplicationsModule, DestinationsModule, EventsModule, NamesModule, ReceivingModule],
  controllers: [EndpointStatsController, FailingApplicationsController, OverviewController, RollupsController],
  providers: [
    EndpointStatistics,
    FailingApplications,
    FailingApplicationsStore,
    Folding,
    MetricTools,
    OverviewStore,
    Overviews,
    RollupsService,
    RollupsStore,
  ],
})
export class MetricsModule {}
