import { Module } from '@nestjs/common';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EndpointsModule } from '../endpoints/endpoints.module.js';
import { Folding } from './folding.js';
import { RollupsController } from './rollups.controller.js';
import { RollupsService } from './rollups.service.js';
import { RollupsStore } from './rollups.store.js';

/** Rollups of what the ledger counts, per endpoint and destination: the job that makes them, and what can be read of them. */
@Module({
  imports: [DestinationsModule, EndpointsModule],
  controllers: [RollupsController],
  providers: [Folding, RollupsService, RollupsStore],
})
export class MetricsModule {}
