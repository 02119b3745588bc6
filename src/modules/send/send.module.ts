import { Global, Module } from '@nestjs/common';
import { ApplicationsModule } from '../applications/applications.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EmailModule } from '../email/email.module.js';
import { EventTypesModule } from '../event-types/event-types.module.js';
import { EventsModule } from '../events/events.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { EndpointTestController } from './endpoint-test.controller.js';
import { EndpointTestService, TestedEndpoints } from './endpoint-test.service.js';
import { FanOutController } from './fan-out.controller.js';
import { FanOutService } from './fan-out.service.js';
import { MessageSender } from './message-sender.js';
import { SendController } from './send.controller.js';
import { SendService } from './send.service.js';
import { SendTools } from './send.tools.js';
import { TestEventController } from './test-event.controller.js';
import { TestEventService } from './test-event.service.js';

/** Global, because extensions inject `MessageSender` in any module. */
@Global()
@Module({
  imports: [
    ApplicationsModule,
    AuthModule,
    DestinationsModule,
    EmailModule,
    EventTypesModule,
    EventsModule,
    LedgerModule,
  ],
  controllers: [EndpointTestController, FanOutController, SendController, TestEventController],
  providers: [
    EndpointTestService,
    FanOutService,
    MessageSender,
    SendService,
    SendTools,
    TestedEndpoints,
    TestEventService,
  ],
  exports: [MessageSender],
})
export class SendModule {}
