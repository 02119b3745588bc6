import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventsModule } from '../events/events.module.js';
import { SendController } from './send.controller.js';
import { SendService } from './send.service.js';
import { TestEventController } from './test-event.controller.js';
import { TestEventService } from './test-event.service.js';

/** Sending: from a request to a committed event. */
@Module({
  imports: [AuthModule, DestinationsModule, EventsModule],
  controllers: [SendController, TestEventController],
  providers: [SendService, TestEventService],
})
export class SendModule {}
