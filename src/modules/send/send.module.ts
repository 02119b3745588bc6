import { Module } from '@nestjs/common';
import { ApplicationsModule } from '../applications/applications.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventTypesModule } from '../event-types/event-types.module.js';
import { EventsModule } from '../events/events.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { EndpointTestController } from './endpoint-test.controller.js';
import { EndpointTestService, TestedEndpoints } from './endpoint-test.service.js';
import { FanOutController } from './fan-out.controller.js';
import { FanOutService } from './fan-out.service.js';
import { SendController } from './send.controller.js';
import { SendService } from './send.service.js';
import { SendTools } from './send.tools.js';
import { TestEventController } from './test-event.controller.js';
import { TestEventService } from './test-event.service.js';

@Module({
  imports: [ApplicationsModule, AuthModule, DestinationsModule, EventTypesModule, EventsModule, LedgerModule],
  controllers: [EndpointTestController, FanOutController, SendController, TestEventController],
  providers: [EndpointTestService, FanOutService, SendService, SendTools, TestedEndpoints, TestEventService],
})
export class SendModule {}
