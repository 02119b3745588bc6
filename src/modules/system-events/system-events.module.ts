import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventsModule } from '../events/events.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { BatchesStore } from './batches.store.js';
import { Composing } from './composing.js';
import { Notifier } from './notifier.js';
import { NotifierLoop } from './notifier-loop.js';
import { SignalsModule } from './signals.module.js';
import { SystemDestination } from './system-destination.js';
import { SystemEventsController } from './system-events.controller.js';
import { SystemEventsMetrics } from './system-events.metrics.js';
import { WaitingSignals } from './waiting-signals.js';

@Module({
  imports: [AuthModule, DestinationsModule, EventsModule, LedgerModule, SignalsModule],
  controllers: [SystemEventsController],
  providers: [BatchesStore, Composing, Notifier, NotifierLoop, SystemDestination, SystemEventsMetrics, WaitingSignals],
})
export class SystemEventsModule {}
