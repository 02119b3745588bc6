import { Module } from '@nestjs/common';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { ApplicationEventsController } from './application-events.controller.js';
import { AttemptLog } from './attempts/attempt-log.js';
import { AttemptLogStore } from './attempts/attempt-log.store.js';
import { DeadLettersStore } from './attempts/dead-letters.store.js';
import { Exchanges } from './attempts/exchanges.js';
import { Signing } from './attempts/signing.js';
import { ApplicationErasureStore } from './erasure/application-erasure.store.js';
import { ApplicationErasures } from './erasure/application-erasures.js';
import { Erase } from './erasure/erase.js';
import { EraseStore } from './erasure/erase.store.js';
import { AttachedContents } from './erasure/erased-contents.js';
import { EventLookup } from './event-lookup.js';
import { EventSelections } from './event-selections.js';
import { EventSources } from './event-sources.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';
import { EventsStore } from './events.store.js';
import { EventTools } from './events.tools.js';
import { MessagesStore } from './messages.store.js';
import { Payloads } from './payload.js';
import { PayloadStore } from './payload.store.js';
import { PulledStore } from './pulled.store.js';
import { ReceivedStore } from './received.store.js';
import { RequestsStore } from './requests.store.js';
import { SentStore } from './sent.store.js';
import { SetAsideStore } from './set-aside.store.js';
import { StreamController } from './stream/stream.controller.js';
import { EventStream } from './stream/stream.js';
import { StreamStore } from './stream/stream.store.js';
import { WaitingStore } from './waiting.store.js';

@Module({
  imports: [DestinationsModule, LedgerModule],
  // StreamController must come first: `v1/events/:id` would match the path `v1/events/stream`.
  controllers: [StreamController, EventsController, ApplicationEventsController],
  providers: [
    ApplicationErasureStore,
    AttachedContents,
    AttemptLogStore,
    Erase,
    EraseStore,
    EventLookup,
    EventStream,
    EventsService,
    EventsStore,
    EventTools,
    Exchanges,
    Payloads,
    PayloadStore,
    PulledStore,
    Signing,
    StreamStore,
    ApplicationErasures,
    AttemptLog,
    DeadLettersStore,
    EventSelections,
    EventSources,
    MessagesStore,
    ReceivedStore,
    RequestsStore,
    SentStore,
    SetAsideStore,
    WaitingStore,
  ],
  exports: [
    ApplicationErasures,
    AttemptLog,
    DeadLettersStore,
    AttachedContents,
    Erase,
    EventSelections,
    EventSources,
    MessagesStore,
    ReceivedStore,
    RequestsStore,
    SentStore,
    SetAsideStore,
    WaitingStore,
  ],
})
export class EventsModule {}
